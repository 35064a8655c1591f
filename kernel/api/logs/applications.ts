import { type LogFormat, part } from './log-format.js';

const { iso, level, stack, all } = part;
/** As written by Go's package log. */
const slashed = '\\d{4}/\\d{2}/\\d{2} \\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})?';
/** A timestamp, or only a time of day, the default of logback. */
const when = `${iso}|\\d{2}:\\d{2}:\\d{2}(?:[.,]\\d{1,9})?`;
/** A level before the timestamp. */
const leading = `[\\[(<]?${level}[\\])>]?[ :|\\t-]+`;
const logger = '[\\w.$/-]+';
const thread = '\\[(?<thread>[^\\]]*(?:\\[[^\\]]*\\][^\\]]*)?)\\]';

/** Formats of logging libraries. */
export const applications: readonly LogFormat[] = [
  {
    name: 'spring',
    label: 'Spring Boot log lines',
    example: [
      '2025-10-10T13:55:36.123Z ERROR 31 --- [shop] [nio-8080-exec-1] c.e.shop.CartController : cart 7 is lost',
      'java.lang.IllegalStateException: no such cart',
      '\tat com.example.shop.Carts.get(Carts.java:31)',
    ],
    reading: {
      kind: 'lines',
      begins: { line: `^${iso} +${level} +\\d+ --- ` },
      shapes: [
        {
          pattern: `^(?<time>${iso}) +(?<level>${level}) +(?<pid>\\d+) --- (?:\\[(?<application>[^\\]]*)\\] )?\\[(?<thread>[^\\]]*)\\] (?<logger>\\S+) *: (?<message>.*)${stack}$`,
        },
      ],
    },
  },
  {
    name: 'log4j',
    label: 'log4j or logback log lines',
    example: [
      '2025-10-10 13:55:36,123 INFO [main] org.example.Cart: started',
      '2025-10-10 13:55:37,123 [main] ERROR org.example.Cart - cart 7 is lost',
      'java.lang.IllegalStateException: no such cart',
      '\tat org.example.Carts.get(Carts.java:31)',
    ],
    reading: {
      kind: 'lines',
      begins: { line: `^(?:${when}) ` },
      shapes: [
        // ZooKeeper, whose threads end with the logger.
        {
          pattern: `^(?<time>${when})(?: \\[myid:(?<myid>[^\\]]*)\\])? +- +(?<level>${level}) +${thread} - (?<message>.*)${stack}$`,
          optional: ['myid'],
        },
        {
          pattern: `^(?<time>${when}) +(?<level>${level}) +${thread} (?<logger>${logger})(?: -| *:) (?<message>.*)${stack}$`,
        },
        {
          pattern: `^(?<time>${when}) +${thread} (?<level>${level}) +(?<logger>${logger})(?: -|:) (?<message>.*)${stack}$`,
        },
        {
          pattern: `^(?<time>${when}) +(?<level>${level}) +(?<logger>${logger})(?: -|:) (?<message>.*)${stack}$`,
        },
        {
          pattern: `^(?<time>${when}) +(?<level>${level}) +\\[(?<logger>[\\w$-]+(?:\\.[\\w$-]+)+)\\] - (?<message>.*)${stack}$`,
        },
      ],
    },
  },
  {
    name: 'python',
    label: 'Python log lines',
    example: [
      '2025-10-10 13:55:36,123 - shop.cart - ERROR - cart 7 is lost',
      'Traceback (most recent call last):',
      '  File "cart.py", line 31, in get',
      'KeyError: 7',
    ],
    reading: {
      kind: 'lines',
      begins: { line: `^(?:\\[?${iso}|(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):[\\w.]+:)` },
      shapes: [
        {
          pattern: `^(?<time>${iso}) - (?<logger>[\\w.-]+) - (?<level>${level}) - (?<message>.*)${stack}$`,
        },
        // https://docs.gunicorn.org/en/stable/settings.html#logging
        {
          pattern: `^\\[(?<time>${iso})\\] \\[(?<pid>\\d+)\\] \\[(?<level>${level})\\] (?<message>.*)${stack}$`,
        },
        // https://docs.celeryq.dev/en/stable/userguide/configuration.html#worker-log-format
        { pattern: `^\\[(?<time>${iso}): (?<level>${level})/(?<process>[^\\]]+)\\] (?<message>.*)${stack}$` },
        {
          pattern: `^(?<level>DEBUG|INFO|WARNING|ERROR|CRITICAL):(?<logger>[\\w.]+):(?<message>.*)${stack}$`,
        },
      ],
    },
  },
  {
    name: 'zap',
    label: 'zap console log lines',
    example: [
      '2025-10-10T13:55:36.123Z\tERROR\tshop/cart.go:31\tcart is lost\t{"cart": 7}',
      'main.main',
      '\t/src/shop/cart.go:31',
    ],
    reading: {
      kind: 'lines',
      begins: { line: '^\\S+\\t[A-Za-z]+\\t' },
      shapes: [
        {
          pattern: `^(?<time>${iso}|\\d+\\.\\d+(?:e[+]\\d+)?)\\t(?<level>${level})\\t(?:(?<logger>[\\w.-]+)\\t)?(?:(?<caller>\\S+\\.go:\\d+)\\t)?(?<message>[^\\t\\n]*)(?:\\t(?<fields>\\{.*\\}))?${stack}$`,
        },
      ],
    },
  },
  {
    name: 'monolog',
    label: 'Monolog log lines (Laravel, Symfony)',
    example: [
      '[2025-10-10T13:55:36.123456+00:00] shop.ERROR: cart 7 is lost {"cart":7} []',
      '[stacktrace]',
      '#0 /srv/shop/Cart.php(31): Carts->get()',
    ],
    reading: {
      kind: 'lines',
      begins: { line: `^\\[${iso}\\] [\\w-]+\\.[A-Z]+: ` },
      // https://github.com/Seldaek/monolog/blob/main/src/Monolog/Formatter/LineFormatter.php
      shapes: [
        {
          pattern: `^\\[(?<time>${iso})\\] (?<channel>[\\w-]+)\\.(?<level>[A-Z]+): (?<message>.*)${stack}$`,
        },
      ],
    },
  },
  {
    name: 'rails',
    label: 'Ruby and Rails log lines',
    example: [
      'I, [2025-10-10T13:55:36.123456 #31]  INFO -- : [5f1c] Started GET "/cart" for 10.1.2.3 at 2025-10-10 13:55:36 +0000',
      'F, [2025-10-10T13:55:37.123456 #31] FATAL -- shop: [5f1c] ActionController::RoutingError',
    ],
    reading: {
      kind: 'lines',
      begins: { line: '^[A-Z], \\[\\d{4}-' },
      // https://docs.ruby-lang.org/en/master/Logger/Formatter.html
      shapes: [
        {
          pattern: `^[DIWEFA], \\[(?<time>${iso}) #(?<pid>\\d+)\\] +(?<level>DEBUG|INFO|WARN|ERROR|FATAL|ANY) -- (?<program>[^:]*): (?<message>${all})$`,
        },
      ],
    },
  },
  {
    name: 'leveled',
    label: 'lines with a time and a level',
    example: [
      '2025-10-10 13:55:36,123 INFO cart is ready',
      '2025/10/10 13:55:37 [warn] cart 7 is slow',
      '[2025-10-10 13:55:37.500] [cart] [info] cart 7 is back',
      '2025-10-10 13:55:37.600 [warn][carts]: cart 7 is late',
      '2025-10-10T13:55:37Z [carts] WARN: cart 7 is cold',
      '[notice] 2025-10-10T13:55:37.700Z cart 7 is full',
      '2025-10-10 13:55:38,123:ERROR:cart 7 is lost',
      'Traceback (most recent call last):',
    ],
    reading: {
      kind: 'lines',
      begins: { line: `^ *\\[?(?:${when}|${slashed})|^${leading}\\[?(?:${when}|${slashed})` },
      shapes: [
        {
          pattern: `^\\[(?<time>${when})\\] ?\\[(?<logger>[^\\]]*)\\] ?\\[(?<level>${level})\\] (?<message>.*)${stack}$`,
        },
        {
          pattern: `^ *\\[?(?<time>${when}|${slashed})\\]?[ ,:|\\t-]+[\\[(<]?(?<level>${level})(?:[\\])>]?(?:[ :|\\t-]+|$)|\\]\\[(?<logger>[^\\]\\s]*)\\]:? )(?<message>.*)${stack}$`,
          optional: ['logger'],
        },
        {
          pattern: `^\\[?(?<time>${when}|${slashed})\\]? +\\[(?<context>[^\\]]*)\\] +(?<level>${level})(?::| -| \\|)? +(?<message>.*)${stack}$`,
        },
        {
          pattern: `^${leading.replace(level, `(?<level>${level})`)}\\[?(?<time>${when}|${slashed})\\]?(?:[ :|\\t-]+(?<message>.*))?${stack}$`,
        },
      ],
    },
  },
  {
    name: 'fields',
    label: 'lines of values below a comment with their field names',
    example: [
      '# Carts of the shop',
      '# fields: ts host seconds',
      '1760104536 web-1 0.25',
      '1760104537 "web 2" -',
    ],
    reading: {
      kind: 'headed',
      header: '^# ?[Ff]ields: ?(\\S+[ \\t,]+\\S.*)$',
      comment: '^#',
      absent: ['-'],
    },
  },
  {
    name: 'toa5',
    label: 'Campbell data logger values (TOA5)',
    example: [
      '"TOA5","CR1000","CR1000","1204","CR1000.Std.21","CPU:cart.CR1","52224","Minutes"',
      '"TIMESTAMP","RECORD","BattV_Min","AirTC_Avg","Note"',
      '"TS","RN","Volts","Deg C",""',
      '"","","Min","Avg","Smp"',
      '"2025-10-10 13:55:00",7,13.7,21.5,"cart"',
      '"2025-10-10 13:56:00",8,13.6,"NAN","cart"',
    ],
    reading: { kind: 'converted', begins: '^"?TOA5"?,', as: 'toa5', to: 'csv' },
  },
  {
    name: 'logfmt',
    label: 'logfmt: key=value',
    example: ['time=2025-10-10T13:55:36.123Z level=INFO msg="cart is ready" cart=7'],
    reading: { kind: 'pairs' },
  },
];
