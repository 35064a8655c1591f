import { present } from '../../present.js';
import { type Cut, type LogFormat, part, type Shape } from './log-format.js';

const { quoted, request, iso, all } = part;

const address = '(?:[\\d.]+|[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*|localhost|unix:)';
/** A request with an unescaped quote in it ends before the status. */
const requested = `"(?<request>${quoted}|.*?)" (?<status>\\d{3}|-)(?: (?<bytes>\\d+|-))?`;
const asked = `"(?<request>${quoted}|.*?)"`;
const ip = '(?:\\d{1,3}(?:\\.\\d{1,3}){3}|[0-9A-Fa-f]*:[0-9A-Fa-f:.]+|unknown)';
const agent = `"(?<referer>${quoted})" "(?<user_agent>${quoted})"`;
/** Added by proxies to the combined format of nginx: the clients behind them. */
const forwarded = `"(?<forwarded_for>-|${ip}(?:, ?${ip})*)"`;
/** In cPanel the month is a number. */
const stamp =
  '\\[(?<time>\\d{1,2}/[A-Za-z]{3}/\\d{4}[: ][^\\]]+|\\d{4}-\\d{2}-\\d{2}T[^\\]]+|\\d{2}/\\d{2}/\\d{4}:\\d{2}:\\d{2}:\\d{2} [+-]\\d{4})\\]';
/** Jetty writes two blanks between them. */
const named = '(?<ident>\\S+) {1,2}(?<user>\\S*)';
const visitor = `(?<client>[^\\s,"]+(?:, ?[^\\s,"]+)*) {1,2}${named} {1,2}${stamp}`;
const host = '(?<vhost>[^\\s,":-][^\\s,":]*(?::\\d+)?|\\[[0-9a-f:.]+\\](?::\\d+)?) ';
const splits = [{ group: 'request', pattern: request }];

/** A client and its port; only a whole address distinguishes that from an IPv6 address without a port. */
const peer =
  '(?<client>\\d{1,3}(?:\\.\\d{1,3}){3}|\\[[\\da-fA-F:.]+\\]|(?:[\\da-fA-F]{1,4}:){7}[\\da-fA-F]{1,4}|[^\\]]*)(?::(?<client_port>\\d+))?';

/** The fields before the timestamp: one client, or a list that each proxy added to, optionally with the virtual host and the last proxy. */
const visitors: readonly string[] = [
  visitor,
  `${host}${visitor.replace('[^\\s,"]+', '[^\\s,"-][^\\s,"]*')}`,
  `(?:${host})?"(?<client>[^"]*)" (?<proxy>${address}) ${named} ${stamp}`,
  `(?:${host})?(?<client>[^\\s,"]+(?:, ?[^\\s,"]+)+) (?<proxy>${address}) ${named} ${stamp}`,
  // A user name with blanks, allowed only after `-`.
  `(?<client>[^\\s,"]+(?:, ?[^\\s,"]+)*) - (?<user>\\S.*?) ${stamp}`,
  `${host}(?<client>${address}(?:, ?${address})*) - (?<user>\\S.*?) ${stamp}`,
];

/** A line with a valid request from a client without proxies, in the common or the combined format. */
const usualAccess: Cut = {
  pattern:
    '^(?<client>[^\\s,"]+) - (?<user>\\S+) \\[(?<time>\\d{1,2}/[A-Za-z]{3}/\\d{4}:[^\\]]+)\\] "(?<asked>[A-Za-z].*)$',
  splits: [
    {
      group: 'asked',
      pattern:
        '^(?<method>[A-Za-z][A-Za-z_-]*) (?<uri>[^\\s"]*) (?<protocol>[A-Za-z]+/\\d[\\d.]*)" (?<answer>.*)$',
    },
    { group: 'answer', pattern: `^(?<status>\\d{3}) (?<bytes>\\d+|-)(?: ${agent})?$` },
  ],
};

/** Access logs, with anything that the server appends to a line. */
function accessShapes(): readonly Shape[] {
  const tail = `(?: ${requested})?(?: ${agent}| - -)?(?: ${forwarded})?(?: (?<rest>.*))?$`;
  return visitors.map(who => ({
    pattern: `^${who}${tail}`,
    ...present({ usual: who === visitor ? usualAccess : undefined }),
    splits,
    pairs: { group: 'rest', style: 'logfmt' },
    optional: ['vhost', 'proxy', 'ident', 'forwarded_for', 'rest'],
  }));
}

/** Web servers and proxies. */
export const web: readonly LogFormat[] = [
  {
    name: 'nginx-ingress',
    label: 'ingress-nginx access log lines',
    example: [
      '10.1.2.3 - - [10/Oct/2025:13:55:36 +0000] "GET /cart HTTP/2.0" 200 612 "-" "curl/8.5.0" 345 0.012 [shop-cart-80] [] 10.0.0.7:8080 612 0.011 200 3f2a9c',
    ],
    reading: {
      kind: 'lines',
      // https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/log-format/
      shapes: [
        {
          pattern: `^${visitor} ${requested} ${agent} (?<request_length>\\d+) (?<request_time>[\\d.]+) \\[(?<upstream>[^\\]]*)\\] \\[(?<alternative_upstream>[^\\]]*)\\] (?<upstream_addr>.*?) (?<upstream_response_length>[\\d, -]+) (?<upstream_response_time>[\\d., -]+) (?<upstream_status>[\\d, -]+) (?<request_id>\\S+)$`,
          splits,
          optional: ['ident'],
        },
      ],
      absent: {
        text: '-',
        fields: [
          'client',
          'ident',
          'user',
          'bytes',
          'upstream_addr',
          'upstream_response_length',
          'upstream_response_time',
          'upstream_status',
        ],
      },
    },
  },
  {
    name: 'traefik',
    label: 'Traefik access log lines',
    example: [
      '10.1.2.3 - - [10/Oct/2025:13:55:36 +0000] "GET /cart HTTP/1.1" 200 612 "-" "curl/8.5.0" 42 "cart@docker" "http://10.0.0.7:8080" 12ms',
    ],
    reading: {
      kind: 'lines',
      // https://doc.traefik.io/traefik/observability/access-logs/
      shapes: [
        {
          pattern: `^${visitor} ${requested} "(?<referer>${quoted})" "(?<user_agent>${quoted})" (?<requests>\\d+) "(?<router>${quoted})" "(?<server>${quoted})" (?<duration_ms>\\d+)ms$`,
          splits,
          optional: ['ident'],
        },
      ],
      absent: { text: '-', fields: ['client', 'ident', 'user', 'bytes', 'router', 'server'] },
    },
  },
  {
    name: 'nginx-proxy-manager',
    label: 'Nginx Proxy Manager access log lines',
    example: [
      '[10/Oct/2025:13:55:36 +0000] - 200 200 - GET https shop.example "/cart" [Client 10.1.2.3] [Length 612] [Gzip 3.10] [Sent-to 10.0.0.7] "curl/8.5.0" "-"',
      '[10/Oct/2025:13:55:37 +0000] 444 - GET https 192.0.2.1 "/.env" [Client 10.1.2.4] [Length 0] [Gzip -] "curl/8.5.0" "-"',
    ],
    reading: {
      kind: 'lines',
      // https://github.com/NginxProxyManager/nginx-proxy-manager/blob/develop/docker/rootfs/etc/nginx/conf.d/include/log.conf
      shapes: [
        {
          pattern: `^${stamp} (?:(?<cache>\\S+) (?<upstream_status>\\d{3}|-) )?(?<status>\\d{3}) - (?<method>\\S+) (?<scheme>\\S+) (?<host>\\S+) "(?<uri>${quoted})" \\[Client (?<client>[^\\]]*)\\] \\[Length (?<bytes>[^\\]]*)\\] \\[Gzip (?<gzip>[^\\]]*)\\](?: \\[Sent-to (?<server>[^\\]]*)\\])? "(?<user_agent>${quoted})" "(?<referer>${quoted})"$`,
        },
      ],
      absent: { text: '-', fields: ['cache', 'upstream_status', 'bytes', 'gzip', 'server'] },
    },
  },
  {
    name: 's3',
    label: 'Amazon S3 access log lines',
    example: [
      '79a59df9 shop-assets [06/Feb/2025:00:00:38 +0000] 192.0.2.3 arn:aws:iam::111122223333:user/ann 3E57427F3EXAMPLE REST.GET.OBJECT img/a.png "GET /shop-assets/img/a.png HTTP/1.1" 200 - 2662 2662 70 10 "-" "S3Console/0.4" - s9lzHYrFp76ZVxRcpX9 SigV4 ECDHE-RSA-AES128-GCM-SHA256 AuthHeader shop-assets.s3.amazonaws.com TLSv1.2 - -',
    ],
    reading: {
      kind: 'lines',
      // https://docs.aws.amazon.com/AmazonS3/latest/userguide/LogFormat.html
      shapes: [
        {
          pattern: `^(?<owner>\\S+) (?<bucket>\\S+) \\[(?<time>[^\\]]+)\\] (?<client>\\S+) (?<requester>\\S+) (?<request_id>\\S+) (?<operation>\\S+) (?<key>\\S+) ${asked} (?<status>\\d{3}|-) (?<error_code>\\S+) (?<bytes>\\d+|-) (?<object_size>\\d+|-) (?<total_time_ms>\\d+|-) (?<turn_around_time_ms>\\d+|-) "(?<referer>${quoted})" "(?<user_agent>${quoted})" (?<version_id>\\S+)(?: (?<rest>.*))?$`,
          splits,
          optional: ['rest'],
        },
      ],
      absent: {
        text: '-',
        fields: [
          'requester',
          'key',
          'request',
          'status',
          'error_code',
          'bytes',
          'object_size',
          'total_time_ms',
          'turn_around_time_ms',
          'version_id',
        ],
      },
    },
  },
  {
    name: 'haproxy',
    label: 'HAProxy log lines',
    example: [
      'Oct 10 13:55:36 edge haproxy[14389]: 10.1.2.3:33317 [10/Oct/2025:13:55:36.655] http-in shop/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {shop.example} {} "GET /cart HTTP/1.1"',
      'Oct 10 13:55:37 edge haproxy[14389]: 10.1.2.4:33318 [10/Oct/2025:13:55:37.000] db-in db/pg1 0/0/5007 212 -- 0/0/0/0/3 0/0',
    ],
    reading: {
      kind: 'lines',
      // https://docs.haproxy.org/3.0/configuration.html#8.2
      shapes: haproxyShapes(),
      absent: { text: '-', fields: ['request_cookie', 'response_cookie'] },
    },
  },
  {
    name: 'combined',
    label: 'access log lines (common or combined format)',
    example: [
      '192.0.2.1 - - [10/Oct/2025:13:55:36 +0000] "GET /cart HTTP/1.1" 200 612 "-" "curl/8.5.0" rt=0.123 uct="0.001" upstream="10.1.1.1:80"',
      '10.0.0.1, 10.0.0.2 - Ann Smith [10/Oct/2025:13:55:37 +0000] "GET /a b HTTP/1.1" 404 0 "-" "curl/8.5.0" rt=0.002 uct="-" upstream="-"',
      '2001:db8::1 - - [10/Oct/2025:13:55:38 +0000] "-" 408 0 "-" "-" rt=59.9 uct="-" upstream="-"',
      '192.0.2.8 - - [10/Oct/2025 13:55:38] "GET /flask HTTP/1.1" 200 -',
      '192.0.2.9 - - [10/Oct/2025:13:55:39 +0000] "\\x16\\x03\\x01" 400 150 "-" "-" rt=0.0 uct="-" upstream="-" bot',
    ],
    reading: {
      kind: 'lines',
      // https://httpd.apache.org/docs/current/logs.html#combined
      shapes: accessShapes(),
      absent: { text: '-', fields: ['client', 'proxy', 'ident', 'user', 'status', 'bytes', 'forwarded_for'] },
    },
  },
  {
    name: 'gin',
    label: 'Gin access log lines',
    example: ['[GIN] 2025/10/10 - 13:55:36 | 401 |     505.317µs |       10.1.2.3 | POST     "/cart"'],
    reading: {
      kind: 'lines',
      shapes: [
        {
          pattern: `^(?:\\[GIN\\] )?(?<time>\\d{4}/\\d{2}/\\d{2} - \\d{2}:\\d{2}:\\d{2}|${iso}) \\| *(?<status>\\d{3}) \\| *(?<latency>\\S+) \\| *(?<client>\\S+) \\| *(?<method>\\S+) +"(?<uri>${quoted})"$`,
        },
      ],
    },
  },
  {
    name: 'nginx-error',
    label: 'nginx error log lines',
    example: [
      '2025/10/10 13:55:36 [error] 31#31: *7 connect() failed (111: Connection refused) while connecting to upstream, client: 10.1.2.3, server: shop.example, request: "GET /cart HTTP/1.1", upstream: "http://10.0.0.7:8080/cart", host: "shop.example"',
      '2025/10/10 13:55:37 [notice] 1#1: start worker process 32',
    ],
    reading: {
      kind: 'lines',
      begins: { line: '^\\d{4}/\\d{2}/\\d{2} \\d{2}:\\d{2}:\\d{2} \\[\\w+\\] \\d+#\\d+:' },
      shapes: [
        {
          pattern: `^(?<time>\\d{4}/\\d{2}/\\d{2} \\d{2}:\\d{2}:\\d{2}) \\[(?<level>\\w+)\\] (?<pid>\\d+)#(?<tid>\\d+): (?:\\*(?<connection>\\d+) )?(?<message>[\\s\\S]*?)(?:, client: (?<client>[^,\\s]+))?(?:, server: (?<server>[^,]*))?(?:, request: "(?<request>${quoted})")?(?:, subrequest: "(?<subrequest>${quoted})")?(?:, upstream: "(?<upstream>${quoted})")?(?:, host: "(?<host>${quoted})")?(?:, referrer: "(?<referrer>${quoted})")?$`,
        },
      ],
    },
  },
  {
    name: 'apache-error',
    label: 'Apache error log lines',
    example: [
      '[Fri Oct 10 13:55:36.123456 2025] [proxy:error] [pid 31:tid 140] (111)Connection refused: [client 10.1.2.3:50112] AH00957: attempt to connect to 10.0.0.7:8080 failed',
      '[Fri Oct 10 13:55:37 2025] [notice] caught SIGTERM, shutting down',
    ],
    reading: {
      kind: 'lines',
      begins: {
        line: '^\\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \\d]?\\d \\d{2}:\\d{2}:\\d{2}|^\\[\\d{2}/[A-Z][a-z]{2}/',
      },
      // https://httpd.apache.org/docs/current/mod/core.html#errorlogformat
      shapes: [
        {
          pattern: `^\\[(?<time>[A-Z][a-z]{2} [A-Z][a-z]{2} [ \\d]?\\d \\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,6})? \\d{4}|\\d{2}/[A-Z][a-z]{2}/\\d{4}:[^\\]]+)\\] \\[(?:(?<module>[\\w-]*):)?(?<level>[a-z]+\\d?)\\](?: \\[pid (?<pid>\\d+)(?::tid (?<tid>\\d+))?\\])?(?: (?<source>[\\w./-]+\\.c\\(\\d+\\)):)?(?: (?<os_error>\\(\\d+\\)[^:\\n]*):)?(?: \\[client ${peer}\\])?(?: (?<code>AH\\d+):)? (?<message>${all})$`,
          optional: ['source', 'client_port'],
        },
      ],
    },
  },
  {
    name: 'envoy',
    label: 'Envoy access log lines',
    example: [
      '[2025-10-10T13:55:36.310Z] "POST /cart HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "curl/8.5.0" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "shop.example" "10.0.2.1:80"',
      '[2025-10-10T13:55:37.310Z] "GET /cart HTTP/1.1" 503 UH no_healthy_upstream - "-" 0 19 0 - "-" "curl/8.5.0" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd3" "shop.example" "-" - - 10.0.0.9:8000 10.0.0.8:51000 - default',
    ],
    reading: {
      kind: 'lines',
      // https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage#default-format-string
      shapes: envoyShapes(),
      absent: {
        text: '-',
        fields: [
          'response_flags',
          'response_code_details',
          'termination_details',
          'transport_failure',
          'upstream_service_time',
          'forwarded_for',
          'user_agent',
          'request_id',
          'authority',
          'upstream_host',
          'upstream_cluster',
          'upstream_local_address',
          'downstream_local_address',
          'downstream_remote_address',
          'server_name',
          'route',
        ],
      },
    },
  },
  {
    name: 'iis',
    label: 'IIS log lines in its native format',
    example: [
      '10.1.2.3, -, 10/13/2025, 13:55:36, W3SVC1, WEB1, 10.0.0.5, 15, 200, 612, 404, 2, GET, /cart, id=7,',
    ],
    reading: {
      kind: 'lines',
      // https://learn.microsoft.com/en-us/previous-versions/iis/6.0-sdk/ms525807(v=vs.90)
      shapes: [
        {
          pattern:
            '^(?<client>[^,\\s]+), (?<user>[^,]*), (?<date>\\d{1,2}[/.-]\\d{1,2}[/.-]\\d{2,4}), (?<time>\\d{1,2}:\\d{2}:\\d{2}), (?<service>[A-Z\\d]+), (?<server>[^,]*), (?<server_ip>[^,]*), (?<duration_ms>\\d+), (?<received_bytes>\\d+), (?<bytes>\\d+), (?<status>\\d+), (?<windows_status>\\d+), (?<method>[^,]*), (?<uri>[^,]*), (?<parameters>.*?),?$',
        },
      ],
      absent: { text: '-', fields: ['user', 'method', 'uri', 'parameters'] },
    },
  },
  {
    name: 'w3c',
    label: 'W3C extended log lines (IIS, CloudFront)',
    example: [
      '#Software: Microsoft Internet Information Services 10.0',
      '#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) sc-status time-taken',
      '2025-10-10 13:55:36 10.0.0.5 GET /cart - 443 - 10.1.2.3 curl/8.5.0 200 15',
    ],
    reading: {
      kind: 'headed',
      // https://www.w3.org/TR/WD-logfile
      header: '^#Fields:[ \\t]*(.*)$',
      day: '^#Date:[ \\t]*(\\d{4}-\\d{2}-\\d{2})',
      comment: '^#',
      absent: ['-'],
    },
  },
];

function haproxyShapes() {
  const named =
    '(?:<\\d{1,3}>)?(?:(?<syslog_time>[A-Z][a-z]{2} {1,2}\\d{1,2} [\\d:]{8}|\\d{4}-\\S+) (?:(?<host>[^\\s[]+) )?)?(?<program>haproxy)\\[(?<pid>\\d+)\\]: ';
  const sent = `(?:${named})?`;
  const asked = `^${sent}(?<client>\\S+):(?<client_port>\\d+) \\[(?<time>[^\\]]+)\\] (?<frontend>[^\\s/]+)`;
  const from = `^${sent}(?<client>\\S+):(?<client_port>\\d+) \\[(?<time>[^\\]]+)\\] (?<frontend>\\S+) (?<backend>[^\\s/]+)/(?<server>\\S+) `;
  const counts =
    '(?<active>\\d+)/(?<frontend_active>\\d+)/(?<backend_active>\\d+)/(?<server_active>\\d+)/(?<retries>\\+?\\d+) (?<server_queue>\\d+)/(?<backend_queue>\\d+)';
  return [
    {
      pattern: `${from}(?<request_ms>-?\\d+)/(?<queue_ms>-?\\d+)/(?<connect_ms>-?\\d+)/(?<response_ms>-?\\d+)/(?<total_ms>\\+?\\d+) (?<status>-?\\d+) (?<bytes>\\+?\\d+) (?<request_cookie>\\S+) (?<response_cookie>\\S+) (?<termination>\\S{4}) ${counts}(?: \\{(?<request_headers>[^}]*)\\})?(?: \\{(?<response_headers>[^}]*)\\})? "(?<request>.*?)"?$`,
      splits: [{ group: 'request', pattern: request }],
    },
    {
      pattern: `${from}(?<queue_ms>-?\\d+)/(?<connect_ms>-?\\d+)/(?<total_ms>\\+?\\d+) (?<bytes>\\+?\\d+) (?<termination>\\S{2}) ${counts}$`,
    },
    // Connections that end before a request, and messages about the proxy itself.
    { pattern: `${asked}/(?<server>\\S+): (?<message>.*)$` },
    { pattern: `^${named}(?<message>.*)$`, loose: true as const },
  ];
}

function envoyShapes() {
  const begin = `^\\[(?<time>${iso})\\] "(?<request>${quoted}|.*?)" (?<status>\\d+) (?<response_flags>\\S+)`;
  const counts =
    '(?<bytes_received>\\d+) (?<bytes_sent>\\d+) (?<duration_ms>\\d+) (?<upstream_service_time>\\d+|-)';
  const names = `"(?<forwarded_for>${quoted})" "(?<user_agent>${quoted})" "(?<request_id>${quoted})" "(?<authority>${quoted})" "(?<upstream_host>${quoted})"`;
  const splits = [{ group: 'request', pattern: request }];
  return [
    { pattern: `${begin} ${counts} ${names}(?: (?<rest>.*))?$`, splits, optional: ['rest'] },
    {
      pattern: `${begin} (?<response_code_details>\\S+) (?<termination_details>\\S+) "(?<transport_failure>${quoted})" ${counts} ${names} (?<upstream_cluster>\\S+) (?<upstream_local_address>\\S+) (?<downstream_local_address>\\S+) (?<downstream_remote_address>\\S+) (?<server_name>\\S+) (?<route>\\S+)(?: (?<rest>.*))?$`,
      splits,
      optional: ['rest'],
    },
  ];
}
