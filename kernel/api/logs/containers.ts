import { type LogFormat, part } from './log-format.js';

const { iso, quoted } = part;

/** The suffix of a pod's name, in the characters that Kubernetes uses. */
const podSuffix = '[bcdfghjklmnpqrstvwxz2456789]{5}';
const container = '(?<container>[a-z0-9][a-z0-9-]*)';

/** Programs that run containers and jobs and merge their lines. */
export const containers: readonly LogFormat[] = [
  {
    name: 'wrapper',
    label: 'Java Service Wrapper lines',
    example: [
      'STATUS | wrapper  | 2025/10/10 13:55:36 | Launching a JVM...',
      'INFO   | jvm 1    | 2025/10/10 13:55:37.123 | cart 7 is lost',
    ],
    reading: {
      kind: 'lines',
      // https://wrapper.tanukisoftware.com/doc/english/prop-logfile-format.html
      shapes: [
        {
          pattern:
            '^(?<level>[A-Z]+) *\\| (?<process>\\w+(?: \\d+)?) +\\| (?<time>\\d{4}/\\d{2}/\\d{2} \\d{2}:\\d{2}:\\d{2}(?:\\.\\d{3})?) \\| (?<message>.*)$',
        },
      ],
    },
  },
  {
    name: 'compose',
    label: 'container lines (docker compose logs)',
    time: ['time'],
    example: [
      'web-1    | 2025-10-10T13:55:36.123456789Z cart is ready',
      'cache-1  | 2025-10-10T13:55:37.123456789Z cart 7 is lost',
    ],
    reading: {
      kind: 'lines',
      // https://docs.docker.com/reference/cli/docker/compose/logs/
      shapes: [
        {
          pattern: `^(?<service>[\\w.-]+) {2,}\\|(?: (?:(?<time>\\d{4}-\\d{2}-\\d{2}T[\\d:]{8}\\.\\d{1,9}Z) )?(?<message>.*))?$`,
        },
      ],
    },
  },
  {
    name: 'kubectl',
    label: 'pod lines (kubectl logs --prefix)',
    time: ['time'],
    example: ['[pod/cart-7d9c8b6f5-x2x9k/app] 2025-10-10T13:55:36.123456789Z cart is ready'],
    reading: {
      kind: 'lines',
      // https://kubernetes.io/docs/reference/kubectl/generated/kubectl_logs/
      shapes: [
        {
          pattern: `^\\[pod/(?<pod>[^/\\]]+)/(?<container>[^\\]]+)\\] (?:(?<time>${iso}) )?(?<message>.*)$`,
        },
      ],
    },
  },
  {
    name: 'stern',
    label: 'pod lines (stern)',
    time: ['time'],
    example: ['cart-7d9c8b6f5-x2x9k app 2025-10-10T13:55:36.123456789Z cart is ready'],
    reading: {
      kind: 'lines',
      // https://github.com/stern/stern
      shapes: [
        {
          pattern: `^(?<pod>[a-z0-9][a-z0-9.-]*-(?:${podSuffix}|\\d+)) ${container} (?<time>${iso}) (?<message>.*)$`,
        },
        { pattern: `^(?<pod>[a-z0-9][a-z0-9.-]*-${podSuffix}) ${container} (?<message>.*)$` },
        // `user-17 logged in` also looks like a pod of a StatefulSet.
        { pattern: `^(?<pod>[a-z0-9][a-z0-9.-]*-\\d+) ${container} (?<message>.*)$`, loose: true },
      ],
    },
  },
  {
    name: 'github-actions',
    label: 'GitHub Actions log lines',
    example: [
      '2025-10-10T13:55:36.1234567Z ##[group]Run npm test',
      '2025-10-10T13:55:37.1234567Z cart is ready',
    ],
    reading: {
      kind: 'lines',
      shapes: [
        {
          pattern:
            '^(?<time>\\d{4}-\\d{2}-\\d{2}T[\\d:]{8}\\.\\d{7}Z) (?:##\\[(?<command>\\w+)\\])?(?<message>.*)$',
          optional: ['command'],
        },
      ],
    },
  },
  {
    name: 'heroku',
    label: 'Heroku log lines',
    example: [
      '2025-10-10T13:55:36.123456+00:00 heroku[router]: at=info method=GET path="/cart" host=shop.example dyno=web.1 connect=1ms service=18ms status=200 bytes=13',
      '2025-10-10T13:55:37.123456+00:00 app[web.1]: cart is ready',
    ],
    reading: {
      kind: 'lines',
      // https://devcenter.heroku.com/articles/http-routing#heroku-router-log-format
      shapes: [
        {
          pattern: `^(?<time>${iso}) (?<source>heroku)\\[(?<process>router)\\]: (?<message>(?:at|sock)=.*)$`,
          pairs: { group: 'message', style: 'logfmt' },
        },
        { pattern: `^(?<time>${iso}) (?<source>heroku|app)\\[(?<process>[\\w.-]+)\\]: (?<message>.*)$` },
      ],
    },
  },
  {
    name: 'squid',
    label: 'Squid access log lines',
    example: [
      '1760104536.123    145 10.1.2.3 TCP_MISS/200 5120 GET http://shop.example/cart ann HIER_DIRECT/10.0.0.7 text/html',
    ],
    reading: {
      kind: 'lines',
      // https://wiki.squid-cache.org/Features/LogFormat
      shapes: [
        {
          pattern: `^(?<time>\\d{10}\\.\\d{3}) +(?<elapsed_ms>-?\\d+) (?<client>\\S+) (?<result>[A-Z_]+)/(?<status>\\d{3}) (?<bytes>\\d+) (?<method>\\S+) (?<uri>\\S+) (?<user>\\S+) (?<hierarchy>[A-Z_]+)/(?<server>\\S+) (?<content_type>\\S+)(?: (?<rest>.*))?$`,
          optional: ['rest'],
        },
      ],
      absent: { text: '-', fields: ['user', 'server', 'content_type'] },
    },
  },
  {
    name: 'uwsgi',
    label: 'uWSGI request lines',
    example: [
      '[pid: 31|app: 0|req: 1/1] 10.1.2.3 () {40 vars in 734 bytes} [Fri Oct 10 13:55:36 2025] GET /cart => generated 612 bytes in 3 msecs (HTTP/1.1 200) 2 headers in 79 bytes (1 switches on core 0)',
    ],
    reading: {
      kind: 'lines',
      // https://uwsgi-docs.readthedocs.io/en/latest/LogFormat.html
      shapes: [
        {
          pattern: `^\\[pid: (?<pid>\\d+)\\|app: (?<app>[^|]*)\\|req: (?<requests>[^\\]]*)\\] (?<client>\\S*) \\((?<user>[^)]*)\\) \\{(?<variables>\\d+) vars in (?<variable_bytes>\\d+) bytes\\} \\[(?<time>[^\\]]+)\\] (?<method>\\S+) (?<uri>.*?) => generated (?<bytes>\\d+) bytes in (?<duration_ms>\\d+) msecs (?:(?<via>via \\S+) )?\\((?<protocol>\\S+) (?<status>\\d{3})\\) (?<rest>.*)$`,
          optional: ['via'],
        },
      ],
    },
  },
  {
    name: 'django',
    label: 'Django request lines',
    example: ['[10/Oct/2025 13:55:36] "GET /cart HTTP/1.1" 200 612'],
    reading: {
      kind: 'lines',
      shapes: [
        {
          pattern: `^\\[(?<time>\\d{1,2}/[A-Z][a-z]{2}/\\d{4} [\\d:]{8})\\] "(?<request>${quoted})" (?<status>\\d{3}) (?<bytes>\\d+|-)$`,
          splits: [{ group: 'request', pattern: part.request }],
        },
      ],
      absent: { text: '-', fields: ['bytes'] },
    },
  },
];
