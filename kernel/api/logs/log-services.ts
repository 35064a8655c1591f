import { month } from './dated.js';
import { type LogFormat, part } from './log-format.js';

const { iso, level, stack, all } = part;
const yearless = `${month} {1,2}\\d{1,2} \\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,6})?`;

/** Telephony, file and code servers, and their monitoring. */
export const services: readonly LogFormat[] = [
  {
    name: 'logcat',
    label: 'Android log lines (logcat)',
    example: ['10-10 13:55:36.123  1702  2395 D CartService: cart is ready'],
    reading: {
      kind: 'lines',
      // https://developer.android.com/tools/logcat#outputFormat
      shapes: [
        {
          pattern:
            '^(?<time>\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}\\.\\d{3}) +(?:(?<uid>\\w+) +)?(?<pid>\\d+) +(?<tid>\\d+) +(?<level>[VDIWEFA]) (?<tag>.*?) *: (?<message>.*)$',
          optional: ['uid'],
        },
        {
          pattern:
            '^(?<time>\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}\\.\\d{3}) +(?<level>[VDIWEFA])/(?<tag>.*?) *\\( *(?<pid>\\d+)\\): (?<message>.*)$',
        },
      ],
    },
  },
  {
    name: 'oslo',
    label: 'OpenStack log lines',
    example: [
      '2025-10-10 13:55:36.123 25746 INFO nova.compute.manager [req-5f1c ann shop - - -] cart is ready',
      'nova-api.log 2025-10-10 13:55:37.123 25746 ERROR nova.compute.manager [-] cart 7 is lost',
    ],
    reading: {
      kind: 'lines',
      begins: { line: `^(?:\\S+ )?${iso} \\d+ [A-Z]+ [\\w.]+ \\[` },
      // https://docs.openstack.org/oslo.log/latest/configuration/index.html
      shapes: [
        {
          pattern: `^(?:(?<file>\\S+) )?(?<time>${iso}) (?<pid>\\d+) (?<level>${level}) (?<logger>[\\w.]+) \\[(?<request>[^\\]]*)\\] ?(?<message>.*)${stack}$`,
          optional: ['file'],
        },
      ],
      absent: { text: '-', fields: ['request'] },
    },
  },
  {
    name: 'odoo',
    label: 'Odoo log lines',
    example: ['2025-10-10 13:55:36,123 31 INFO shop odoo.addons.cart: cart is ready'],
    reading: {
      kind: 'lines',
      begins: { line: `^${iso} \\d+ [A-Z]+ \\S+ [\\w.]+: ` },
      shapes: [
        {
          pattern: `^(?<time>${iso}) (?<pid>\\d+) (?<level>${level}) (?<database>\\S+) (?<logger>[\\w.]+): (?<message>.*)${stack}$`,
        },
      ],
      absent: { text: '?', fields: ['database'] },
    },
  },
  {
    name: 'monit',
    label: 'Monit log lines',
    example: [
      "[CEST Oct 10 13:55:36] error    : 'cart' process is not running",
      "[2025-10-10T13:55:37+0200] info     : 'cart' start: '/bin/cart'",
    ],
    reading: {
      kind: 'lines',
      shapes: [
        {
          pattern: `^\\[(?<time>(?:[A-Z]{3,5} )?${yearless}|\\d{4}-\\d{2}-\\d{2}T[\\d:]{8}[+-]\\d{4})\\] (?<level>debug|info|notice|warning|error|critical|alert|emergency) *: (?<message>.*)$`,
        },
      ],
    },
  },
  {
    name: 'asterisk',
    label: 'Asterisk log lines',
    example: [
      '[Oct 10 13:55:36] SECURITY[77]: res_security_log.c:114 security_event_cb: SecurityEvent="InvalidAccountID"',
      '[2025-10-10 13:55:37] WARNING[77][C-00000007]: chan_sip.c:31 cart: cart 7 is lost',
    ],
    reading: {
      kind: 'lines',
      shapes: [
        {
          pattern: `^\\[(?<time>${yearless}|${iso})\\] (?<level>[A-Z]+)\\[(?<thread>\\d+)\\](?:\\[(?<call>C-[\\da-f]+)\\])?:? (?<source>[\\w./-]+(?::\\d+)?)(?:(?: in)? (?<function>[^\\s:]+))?: (?<message>${all})$`,
          optional: ['call'],
        },
      ],
    },
  },
  {
    name: 'freeswitch',
    label: 'FreeSWITCH log lines',
    example: ['2025-10-10 13:55:36.123456 96.03% [WARNING] sofia_reg.c:3223 no cart 7'],
    reading: {
      kind: 'lines',
      shapes: [
        {
          pattern: `^(?:(?<session>[\\da-f-]{36}) )?(?<time>${iso})(?: (?<idle>[\\d.]+)%)? \\[(?<level>[A-Z0-9]+)\\] (?<source>[\\w./-]+:\\d+) (?<message>.*)$`,
          optional: ['session', 'idle'],
        },
      ],
    },
  },
  {
    name: 'gitea',
    label: 'Gitea or Forgejo log lines',
    example: [
      '2025/10/10 13:55:36 ...web/cart.go:200:Post() [W] [68e90f1f] cart 7 is lost',
      '2025/10/10 13:55:37 cmd/web.go:31:run() [I] cart is ready',
    ],
    reading: {
      kind: 'lines',
      shapes: [
        {
          pattern:
            '^(?<time>\\d{4}/\\d{2}/\\d{2} \\d{2}:\\d{2}:\\d{2}) (?<source>[\\w./-]+:\\d+):(?<function>\\S+) \\[(?<level>[TDIWECF])\\](?: \\[(?<request>[\\da-f-]{8,})\\])? (?<message>.*)$',
          optional: ['request'],
        },
      ],
    },
  },
  {
    name: 'nagios',
    label: 'Nagios or Icinga 1 log lines',
    example: [
      '[1760104536] SERVICE ALERT: web1;Cart;CRITICAL;SOFT;1;cart 7 is lost',
      '[1760104536] HOST ALERT: web1;DOWN;HARD;3;no answer',
      '[1760104537] Auto-save of retention data completed successfully.',
    ],
    reading: {
      kind: 'lines',
      shapes: [
        {
          pattern:
            '^\\[(?<time>\\d{10})\\] (?<event>SERVICE ALERT|CURRENT SERVICE STATE|INITIAL SERVICE STATE): (?<host>[^;]*);(?<service>[^;]*);(?<state>[^;]*);(?<state_type>HARD|SOFT);(?<attempt>\\d+);(?<message>.*)$',
        },
        {
          pattern:
            '^\\[(?<time>\\d{10})\\] (?<event>HOST ALERT|CURRENT HOST STATE|INITIAL HOST STATE): (?<host>[^;]*);(?<state>[^;]*);(?<state_type>HARD|SOFT);(?<attempt>\\d+);(?<message>.*)$',
        },
        { pattern: '^\\[(?<time>\\d{10})\\] (?<event>[A-Z][A-Z ]+): (?<message>.*)$' },
        { pattern: '^\\[(?<time>\\d{10})\\] (?<message>.*)$', loose: true },
      ],
    },
  },
  {
    name: 'vsftpd',
    label: 'vsftpd log lines',
    example: ['Fri Oct 10 13:55:36 2025 [pid 31] [ann] FAIL LOGIN: Client "10.1.2.3"'],
    reading: {
      kind: 'lines',
      shapes: [
        {
          pattern:
            '^(?<time>[A-Z][a-z]{2} [A-Z][a-z]{2} {1,2}\\d{1,2} [\\d:]{8} \\d{4}) \\[pid (?<pid>\\d+)\\] (?:\\[(?<user>[^\\]]*)\\] )?(?<event>(?:OK |FAIL )?[A-Z]+|FTP \\w+): Client "(?<client>[^"]*)"(?:, (?<message>.*))?$',
          optional: ['message'],
        },
      ],
    },
  },
  {
    name: 'proftpd',
    label: 'ProFTPD log lines',
    example: ['2025-10-10 13:55:36,123 edge proftpd[31] edge (10.1.2.3[10.1.2.3]): USER ann: no such user'],
    reading: {
      kind: 'lines',
      shapes: [
        {
          pattern: `^(?<time>${iso}) (?<host>\\S+) (?<program>proftpd)\\[(?<pid>\\d+)\\] (?<server>\\S+)(?: \\((?<client>[^[\\s]*)\\[(?<address>[^\\]]*)\\]\\))?: (?<message>.*)$`,
          optional: ['client', 'address'],
        },
      ],
    },
  },
  {
    name: 'cbs',
    label: 'Windows servicing log lines (CBS, DISM)',
    example: ['2025-10-10 13:55:36, Info                  CBS    Loaded Servicing Stack v6.1.7601'],
    reading: {
      kind: 'lines',
      shapes: [
        {
          pattern: `^(?<time>${iso}), (?<level>[A-Z][a-z]+) +(?<component>[A-Z]{2,8}) +(?<message>.*)$`,
        },
      ],
    },
  },
];
