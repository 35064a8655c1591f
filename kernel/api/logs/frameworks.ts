import { type LogFormat, part } from './log-format.js';

const { iso, stack, all } = part;
const named = '\\d{1,2}-[A-Z][a-z]{2}-\\d{4} \\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?';

/** Servers and frameworks of Java, .NET, Rust, PHP and JavaScript. */
export const frameworks: readonly LogFormat[] = [
  {
    name: 'elasticsearch',
    label: 'Elasticsearch, OpenSearch or Logstash log lines',
    example: [
      '[2025-10-10T13:55:36,123][INFO ][o.e.n.Node               ] [node-1] initialized',
      '[2025-10-10T13:55:37,123][WARN ][o.e.c.r.a.DiskThresholdMonitor] [node-1] high disk watermark exceeded',
      'java.lang.IllegalStateException: disk full',
      '\tat org.elasticsearch.Node.start(Node.java:31)',
    ],
    reading: {
      kind: 'lines',
      begins: { line: `^\\[${iso}\\]\\[[A-Z]+ *\\]\\[` },
      shapes: [
        {
          pattern: `^\\[(?<time>${iso})\\]\\[(?<level>[A-Z]+) *\\]\\[(?<logger>[^\\]\\s]*) *\\](?: \\[(?<node>[^\\]]*)\\])? ?(?<message>.*)${stack}$`,
        },
      ],
    },
  },
  {
    name: 'jvm',
    label: 'JVM log lines (-Xlog), such as garbage collection',
    example: [
      '[2025-10-10T13:55:36.123+0000][1.234s][info][gc] GC(7) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 3.456ms',
      '[2025-10-10T13:55:37.123+0000][2.234s][info][gc,heap] GC(7) Eden regions: 24->0(13)',
    ],
    reading: {
      kind: 'lines',
      // https://openjdk.org/jeps/158
      shapes: [`\\[(?<time>${iso})\\](?:\\[(?<uptime>[\\d.]+)s\\])?`, '\\[(?<uptime>[\\d.]+)s\\]'].map(
        when => ({
          pattern: `^${when}(?:\\[(?<pid>\\d+)\\]|(?:\\[(?<tid>\\d+)\\])?\\[(?<level>trace|debug|info|warning|error) *\\])\\[(?<tags>[a-z][\\w,+]*) *\\] (?:GC\\((?<gc>\\d+)\\) )?(?<message>.*)$`,
          optional: ['uptime', 'pid', 'tid', 'level', 'gc'],
        }),
      ),
    },
  },
  {
    name: 'tomcat',
    label: 'Tomcat or java.util.logging log lines',
    example: [
      '10-Oct-2025 13:55:36.123 INFO [main] org.apache.catalina.startup.Catalina.start Server startup in [1234] milliseconds',
      'Oct 10, 2025 1:55:37 PM com.example.shop.Carts get',
      'SEVERE: cart 7 is lost',
      'java.lang.IllegalStateException: no such cart',
    ],
    reading: {
      kind: 'lines',
      begins: { line: `^${named} [A-Z]+ \\[|^[A-Z][a-z]{2} \\d{1,2}, \\d{4} [\\d:]{7,8} [AP]M ` },
      shapes: [
        {
          pattern: `^(?<time>${named}) (?<level>[A-Z]+) \\[(?<thread>.*?)\\] (?<logger>[\\w.$<>/-]+) ?(?<message>.*)${stack}$`,
        },
        {
          pattern: `^(?<time>[A-Z][a-z]{2} \\d{1,2}, \\d{4} [\\d:]{7,8} [AP]M) (?<logger>[\\w.$<>]+(?: [\\w$<>]+)?)\\n(?<level>[A-Z]+): (?<message>.*)${stack}$`,
        },
      ],
    },
  },
  {
    name: 'weblogic',
    label: 'WebLogic log records',
    example: [
      '####<Oct 10, 2025 1:55:36,123 PM UTC> <Info> <Server> <edge> <AdminServer> <[ACTIVE] ExecuteThread: 7> <<WLS Kernel>> <> <> <1760104536123> <[severity-value: 64] > <BEA-002613> <Channel "Default" is now listening.>',
    ],
    reading: {
      kind: 'lines',
      begins: { line: '^####<' },
      shapes: [
        {
          pattern: `^####<(?<logged>[^>]*)> <(?<level>[^>]*)> <(?<subsystem>[^>]*)> <(?<host>[^>]*)> <(?<server>[^>]*)> <(?<thread>.*?)> <(?<user><[^>]*>|[^>]*)> <(?<transaction>[^>]*)> <(?<context>[^>]*)> <(?<time>\\d*)> (?:<(?<attributes>\\[[^>]*)> )?<(?<code>[^>]*)> <(?<message>${all})>\\s*$`,
          optional: ['transaction', 'context', 'attributes'],
        },
      ],
    },
  },
  {
    name: 'dotnet',
    label: '.NET console log lines',
    example: [
      '2025-10-10T13:55:36.123Z info: Microsoft.Hosting.Lifetime[14]',
      '      Now listening on: http://localhost:5000',
      '2025-10-10T13:55:37.123Z fail: Shop.Cart[0]',
      '      cart 7 is lost',
      '      System.InvalidOperationException: no such cart',
      '         at Shop.Cart.Get()',
    ],
    reading: {
      kind: 'lines',
      begins: { line: `^(?:\\[?${iso}\\]? )?(?:trce|dbug|info|warn|fail|crit): [\\w.+\`]+\\[-?\\d+\\]` },
      // https://learn.microsoft.com/en-us/dotnet/core/extensions/console-log-formatter
      shapes: [
        {
          pattern: `^(?:\\[?(?<time>${iso})\\]? )?(?<level>trce|dbug|info|warn|fail|crit): (?<category>[\\w.+\`]+)\\[(?<event_id>-?\\d+)\\](?:\\n?\\s+(?<message>.*))?${stack}$`,
        },
      ],
    },
  },
  {
    name: 'tracing',
    label: 'Rust log lines (tracing, env_logger)',
    example: [
      '2025-10-10T13:55:36.123456Z  INFO request{method=GET uri=/cart}: cart::web: started port=8080',
      '  2025-10-10T13:55:37.123456Z ERROR cart::db: cart is lost, cart: 7',
      '    at src/db.rs:31',
      '[2025-10-10T13:55:38Z WARN  cart::db] cart is slow',
    ],
    reading: {
      kind: 'lines',
      begins: {
        line: `^ *\\d{4}-\\d{2}-\\d{2}T[\\d:]{8}\\.\\d{6,9}Z +[A-Z]+ |^\\[\\d{4}-\\d{2}-\\d{2}T[\\d:.]+Z +[A-Z]+ `,
      },
      // https://docs.rs/tracing-subscriber/latest/tracing_subscriber/fmt/format/index.html
      shapes: [
        {
          pattern: `^ *(?<time>\\d{4}-\\d{2}-\\d{2}T[\\d:]{8}\\.\\d{6,9}Z) +(?<level>TRACE|DEBUG|INFO|WARN|ERROR) +(?:(?<spans>\\w+(?:\\{[^\\n]*\\})?(?::\\w+\\{[^\\n]*\\})*): )?(?<target>\\w+(?:::\\w+)*): (?<message>.*)(?:\\n +at (?<source>\\S+:\\d+))?${stack}$`,
        },
        {
          pattern: `^\\[(?<time>\\d{4}-\\d{2}-\\d{2}T[\\d:.]+Z) +(?<level>TRACE|DEBUG|INFO|WARN|ERROR) +(?<target>[\\w:.-]+)\\] (?<message>.*)${stack}$`,
        },
      ],
    },
  },
  {
    name: 'php',
    label: 'PHP and PHP-FPM error log lines',
    example: [
      '[10-Oct-2025 13:55:36 UTC] PHP Warning:  Undefined variable $cart in /srv/shop/cart.php on line 31',
      '[10-Oct-2025 13:55:37 UTC] PHP Fatal error:  Uncaught Exception: cart is lost in /srv/shop/cart.php:31',
      'Stack trace:',
      '#0 {main}',
      '[10-Oct-2025 13:55:38] WARNING: [pool www] child 31 exited on signal 9',
    ],
    reading: {
      kind: 'lines',
      begins: { line: `^\\[${named}` },
      shapes: [
        {
          pattern: `^\\[(?<time>${named}(?: [\\w/+-]+)?)\\] PHP (?<level>[A-Z][\\w ]*?): +(?<message>.*)${stack}$`,
        },
        {
          pattern: `^\\[(?<time>${named}(?: [\\w/+-]+)?)\\] (?<level>DEBUG|NOTICE|WARNING|ERROR|ALERT): (?:\\[pool (?<pool>[^\\]]*)\\] )?(?<message>.*)${stack}$`,
        },
        { pattern: `^\\[(?<time>${named}(?: [\\w/+-]+)?)\\] (?<message>.*)${stack}$`, loose: true },
      ],
    },
  },
  {
    name: 'nest',
    label: 'Nest log lines',
    example: ['[Nest] 31  - 10/13/2025, 1:55:36 PM   ERROR [Carts] cart 7 is lost'],
    reading: {
      kind: 'lines',
      begins: { line: '^\\[Nest\\] \\d+ +- ' },
      shapes: [
        {
          pattern: `^\\[Nest\\] (?<pid>\\d+) +- (?<time>\\d{1,2}/\\d{1,2}/\\d{4}, [\\d:]{7,8} [AP]M) +(?<level>[A-Z]+) (?:\\[(?<context>[^\\]]*)\\] )?(?<message>.*)${stack}$`,
        },
      ],
    },
  },
  {
    name: 'uvicorn',
    label: 'Uvicorn log lines',
    example: [
      'INFO:     10.1.2.3:50112 - "GET /cart HTTP/1.1" 200 OK',
      'ERROR:    Exception in ASGI application',
      'Traceback (most recent call last):',
    ],
    reading: {
      kind: 'lines',
      begins: { line: '^(?:TRACE|DEBUG|INFO|WARNING|ERROR|CRITICAL): {2,}|^[A-Z]+: \\S+:\\d+ - "' },
      shapes: [
        {
          pattern: `^(?<level>[A-Z]+): +(?<client>\\S+:\\d+) - "(?<request>${part.quoted})" (?<status>\\d{3})(?: (?<reason>.*))?$`,
          splits: [{ group: 'request', pattern: part.request }],
        },
        { pattern: `^(?<level>TRACE|DEBUG|INFO|WARNING|ERROR|CRITICAL): {2,}(?<message>.*)${stack}$` },
      ],
    },
  },
  {
    name: 'named',
    label: 'BIND log lines',
    example: [
      '10-Oct-2025 13:55:36.123 queries: info: client @0x7f3a 10.1.2.3#49152 (shop.example): query: shop.example IN A +E(0)K (10.0.0.7)',
      '10-Oct-2025 13:55:37.123 general: notice: running',
    ],
    reading: {
      kind: 'lines',
      // https://bind9.readthedocs.io/en/latest/reference.html#logging-block-definition-and-usage
      shapes: [
        {
          pattern: `^(?<time>${named}) (?:(?<category>[\\w-]+): )?(?<level>info|notice|warning|error|critical|debug \\d+): (?:client (?:@(?<client_id>0x\\w+) )?(?<client>[\\da-fA-F.:]+)#(?<client_port>\\d+)(?: \\((?<name>[^)]*)\\))?: )?(?<message>.*)$`,
        },
        {
          // Without the level.
          pattern: `^(?<time>${named}) (?:(?<category>[\\w-]+): )?client (?:@(?<client_id>0x\\w+) )?(?<client>[\\da-fA-F.:]+)#(?<client_port>\\d+)(?: \\((?<name>[^)]*)\\))?: (?<message>.*)$`,
        },
      ],
    },
  },
];
