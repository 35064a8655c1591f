import { month } from './dated.js';
import { type LogFormat, part } from './log-format.js';

const { quoted } = part;

/** Timestamps of RFC 3164 and of Cisco, which may have a year or a fraction. */
const yearless = `${month} {1,2}\\d{1,2}(?: \\d{4})? \\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,6})?`;
/** A timestamp of RFC 3339, which does not end in `:` or `,`. */
const dated = '\\d{4}-\\d{2}-\\d{2}T\\S*[\\dA-Z]';
const header = 'CEF: ?(?<cef_version>\\d+)';
const escaped = '(?:[^|\\\\]|\\\\.)*';
const mailTime = '\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,6})?(?: [+-]\\d{4})?';
/** Message ids of Exim, before and since 4.97. */
const mailId = '[0-9A-Za-z]{6}-(?:[0-9A-Za-z]{6}-[0-9A-Za-z]{2}|[0-9A-Za-z]{11}-[0-9A-Za-z]{4})';
/** What a syslog server writes before other formats. */
const sent = `(?:<(?<priority>\\d{1,3})>)?(?:(?:\\d )?(?<syslog_time>${yearless}|\\d{4}-\\d{2}-\\d{2}T\\S+) (?<host>\\S+) )?`;

/** Operating systems, their networks and their security. */
export const system: readonly LogFormat[] = [
  {
    name: 'cef',
    label: 'Common Event Format (CEF)',
    time: ['rt', 'start', 'end'],
    example: [
      'CEF:0|Example|Firewall|1.0|100|connection denied|5|rt=1760104536000 src=10.1.2.3 dst=10.0.0.7 msg=no rule matches act=deny',
    ],
    reading: {
      kind: 'lines',
      shapes: [
        {
          pattern: `^${sent}${header}\\|(?<vendor>${escaped})\\|(?<product>${escaped})\\|(?<product_version>${escaped})\\|(?<event_class>${escaped})\\|(?<name>${escaped})\\|(?<severity>${escaped})\\|(?<extension>.*)$`,
          pairs: { group: 'extension', style: 'cef' },
          optional: ['priority', 'syslog_time', 'host', 'extension'],
        },
      ],
      escaped: ['vendor', 'product', 'product_version', 'event_class', 'name'],
    },
  },
  {
    name: 'leef',
    label: 'Log Event Extended Format (LEEF)',
    time: ['devTime'],
    example: [
      'LEEF:1.0|Example|Firewall|1.0|deny|devTime=2025-10-10T13:55:36Z\tsrc=10.1.2.3\tmsg=no rule matches',
      'LEEF:2.0|Example|Firewall|1.0|deny|^|devTime=2025-10-10T13:55:37Z^src=10.1.2.3^msg=no rule matches',
    ],
    reading: {
      kind: 'lines',
      shapes: [
        {
          pattern: `^${sent}LEEF:(?<leef_version>[\\d.]+)\\|(?<vendor>[^|]*)\\|(?<product>[^|]*)\\|(?<product_version>[^|]*)\\|(?<event_class>[^|]*)\\|(?<extension>.*)$`,
          pairs: { group: 'extension', style: 'leef' },
          optional: ['priority', 'syslog_time', 'host', 'extension'],
        },
      ],
    },
  },
  {
    name: 'fortigate',
    label: 'FortiGate log lines',
    example: [
      '<189>date=2025-10-10 time=13:55:36 devname="edge" tz="+0200" type="event" level="alert" msg="no rule matches"',
      'Oct 10 13:55:40 edge date=2025-10-10 time=13:55:37 devname="edge" tz="+0200" type="event" level="alert" msg="ann is out"',
    ],
    reading: {
      kind: 'lines',
      // https://docs.fortinet.com/document/fortigate/7.6.0/fortios-log-message-reference/
      shapes: [
        {
          pattern: `^${sent}(?<values>date=\\d{4}-\\d{2}-\\d{2} time=\\S+ .*)$`,
          pairs: { group: 'values', style: 'logfmt' },
          optional: ['priority', 'syslog_time', 'host', 'values'],
        },
      ],
    },
  },
  {
    name: 'syslog',
    label: 'syslog lines',
    example: [
      '<34>1 2025-10-10T13:55:36.003Z edge su 8710 ID47 [origin@32473 ip="10.0.0.5"] su root failed for ann',
      '<34>Oct 10 13:55:37 edge sshd[8711]: Failed password for ann from 10.1.2.3',
      'Oct 10 13:55:38 dnsmasq[31]: query[A] shop.example from 10.1.2.3',
      'Oct 10 13:55:38 edge user.warn kernel: cart is slow',
      'Oct 10 13:55:38 edge system,error,critical login failure for ann',
      'Fri 2025-10-10 13:55:39 UTC edge ssh.service[8711]: Connection closed by 10.1.2.3',
    ],
    reading: {
      kind: 'lines',
      shapes: [
        {
          // https://www.rfc-editor.org/rfc/rfc5424
          pattern: `^<(?<priority>\\d{1,3})>(?<version>\\d{1,2}) (?<time>\\d{4}-\\d{2}-\\d{2}T\\S+|-) (?<host>\\S+) (?<program>\\S+) (?<pid>\\S+) (?<message_id>\\S+) (?<structured_data>-|(?:\\[(?:[^\\]"\\\\]|\\\\.|"${quoted}")*\\])+)(?: \ufeff?(?<message>.*))?$`,
        },
        {
          // Without a host, as dnsmasq and others write to their own files.
          pattern: `^(?:<(?<priority>\\d{1,3})>)?(?<time>${yearless}|${dated}) (?<program>[\\w./-]+)\\[(?<pid>\\d+)\\]: ?(?<message>.*)$`,
        },
        {
          // OpenWrt and BusyBox, with the facility and the level.
          pattern: `^(?<time>${yearless}|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \\d]\\d \\d{2}:\\d{2}:\\d{2} \\d{4})(?: (?<host>\\S+))? (?<facility>kern|user|mail|daemon|auth|syslog|lpr|news|uucp|cron|authpriv|ftp|local[0-7])\\.(?<level>emerg|alert|crit|err|warn|notice|info|debug) (?<program>[^\\s:[\\]]+)(?:\\[(?<pid>\\d+)\\])?: ?(?<message>.*)$`,
          optional: ['facility', 'level'],
        },
        {
          // RouterOS of MikroTik, with its topics.
          pattern: `^(?:<(?<priority>\\d{1,3})>)?(?<time>${yearless}|${dated}) (?<host>[^\\s:[\\]]+) (?<topics>[a-z][a-z\\d-]*(?:,!?[a-z][a-z\\d-]*)+) (?<message>.*)$`,
          optional: ['topics'],
        },
        {
          // Cisco: the facility, the severity and the name of the message.
          pattern: `^(?:<(?<priority>\\d{1,3})>)?(?<time>${yearless}) (?<host>[^\\s:]+) ?: %(?<program>[A-Z\\d_]+-\\d-[A-Z\\d_]+): ?(?<message>.*)$`,
        },
        {
          pattern: `^(?:<(?<priority>\\d{1,3})>)?(?<time>${yearless}) (?<program>[\\w./-]+): (?<message>.*)$`,
        },
        {
          // https://www.freedesktop.org/software/systemd/man/latest/journalctl.html#short-full
          pattern: `^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?<time>\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,9})? \\S+) (?<host>\\S+) (?<program>[^\\s:\\[]+)(?:\\[(?<pid>\\d+)\\])?: ?(?<message>.*)$`,
        },
        {
          // https://www.rfc-editor.org/rfc/rfc3164
          pattern: `^(?:<(?<priority>\\d{1,3})>)?(?<time>${yearless}|${dated}) (?<host>[^\\s[\\]]*[^\\s[\\]:]) (?<program>[^\\s:=\\[]+(?: \\d[\\d.]*)?)(?:\\[(?<pid>\\d+)\\])?(?: \\((?<service>[^()\\s]+)\\))?: ?(?<message>.*)$`,
          optional: ['service'],
        },
        {
          // A program name with blanks, as on a Mac.
          pattern: `^(?<time>${yearless}) (?<host>[^\\s:[\\]]+) (?<program>[^\\s:=[\\]]+(?: [^\\s:=[\\]]+){1,4})\\[(?<pid>\\d+)\\]: ?(?<message>.*)$`,
        },
        {
          // Without a program name, or with blanks in it.
          pattern: `^(?:<(?<priority>\\d{1,3})>)?(?<time>${yearless}|${dated}) (?<host>[^\\s:[\\]]+) +(?<message>.*)$`,
          loose: true,
        },
      ],
      absent: { text: '-', fields: ['time', 'host', 'program', 'pid', 'message_id', 'structured_data'] },
    },
  },
  {
    name: 'dmesg',
    label: 'kernel log lines (dmesg)',
    example: [
      '[Fri Oct 10 13:55:36 2025] usb 1-1: new high-speed USB device number 2 using xhci_hcd',
      '[12345.678901] Out of memory: Killed process 31 (java)',
    ],
    reading: {
      kind: 'lines',
      shapes: [
        {
          pattern:
            '^(?:<(?<priority>\\d{1,3})>)?\\[ *(?<uptime>\\d+\\.\\d{6})\\](?:\\[ *(?<caller>[TC]\\d+)\\])? (?<message>.*)$',
          optional: ['priority', 'caller'],
        },
        {
          pattern:
            '^\\[(?<time>[A-Z][a-z]{2} [A-Z][a-z]{2} {1,2}\\d{1,2} [\\d:]{8} \\d{4})\\] (?<message>[^\\[].*)$',
        },
      ],
    },
  },
  {
    name: 'auditd',
    label: 'Linux audit daemon records',
    example: [
      `type=SYSCALL msg=audit(1760104536.123:8272): arch=c000003e syscall=59 success=yes pid=31 exe="/usr/bin/su"`,
      `type=USER_LOGIN msg=audit(1760104537.000:8273): pid=32 uid=0 msg='op=login acct="ann" exe="/usr/sbin/sshd" res=failed'`,
    ],
    reading: {
      kind: 'lines',
      // https://github.com/linux-audit/audit-documentation/wiki/SPEC-Audit-Event-Enrichment
      shapes: [
        {
          pattern: `^(?:node=(?<node>\\S+) )?type=(?<type>\\S+) msg=audit\\((?<time>\\d+\\.\\d+):(?<serial>\\d+)\\): ?(?<values>[^\\x1d]*?)(?: ?msg='(?<message>[^']*)')?(?:\\x1d(?<names>.*))?$`,
          pairs: { group: 'values', style: 'logfmt' },
          optional: ['node', 'values', 'message', 'names'],
        },
      ],
    },
  },
  {
    name: 'alerts',
    label: 'Snort or Suricata alerts (fast.log)',
    example: [
      '10/10/2025-13:55:36.860293  [**] [1:2008578:4] ET SCAN Sipvicious Scan [**] [Classification: Attempted Information Leak] [Priority: 2] {UDP} 10.1.2.3:5116 -> 10.0.0.7:5060',
      '10/10-13:55:37.765402 [**] [1:366:11] "PROTOCOL-ICMP PING Unix" [**] [Priority: 3] {ICMP} 10.1.2.3 -> 10.0.0.7',
    ],
    reading: {
      kind: 'lines',
      shapes: [
        {
          pattern:
            '^(?<time>\\d{2}/\\d{2}(?:/\\d{2}|/\\d{4})?-\\d{2}:\\d{2}:\\d{2}\\.\\d{6}) +(?:\\[(?<action>[\\w ]+)\\] +)?\\[\\*\\*\\] \\[(?<generator_id>\\d+):(?<signature_id>\\d+):(?<revision>\\d+)\\] (?<message>.*?) \\[\\*\\*\\](?: \\[Classification: (?<classification>[^\\]]*)\\])?(?: \\[Priority: (?<priority>\\d+)\\])? \\{(?<protocol>[^}]+)\\} (?<source>\\S+) -> (?<destination>\\S+)$',
          optional: ['action'],
        },
      ],
    },
  },
  {
    name: 'openvpn',
    label: 'OpenVPN log lines',
    example: [
      '2025-10-10 13:55:36 us=123456 ann/10.1.2.3:1194 MULTI: Learn: 10.8.0.6 -> ann/10.1.2.3:1194',
      'Fri Oct 10 13:55:37 2025 10.1.2.3:1194 TLS Error: TLS handshake failed',
    ],
    reading: {
      kind: 'lines',
      shapes: [
        {
          pattern: `^(?<time>\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \\d]\\d \\d{2}:\\d{2}:\\d{2} \\d{4})(?: us=(?<us>\\d{1,6}))? (?:(?<user>[^\\s/:]+)/)?(?<client>(?:\\d{1,3}\\.){3}\\d{1,3}|\\[[\\da-f:.]+\\]):(?<client_port>\\d{1,5}) (?<message>.*)$`,
          optional: ['us', 'user'],
        },
        {
          pattern: `^(?<time>\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \\d]\\d \\d{2}:\\d{2}:\\d{2} \\d{4})(?: us=(?<us>\\d{1,6}))? (?<message>.*)$`,
          loose: true,
          optional: ['us'],
        },
      ],
    },
  },
  {
    name: 'exim',
    label: 'Exim main log lines',
    example: [
      '2025-10-10 13:55:36 1v7Abc-0001Zz-2k <= ann@shop.example H=mail.example [10.1.2.3] P=esmtps S=2310',
      '2025-10-10 13:55:37 1v7Abc-0001Zz-2k => bob@example.org R=dnslookup T=remote_smtp C="250 OK"',
      '2025-10-10 13:55:38 1v7Abc-0001Zz-2k Completed',
      '2025-10-10 13:55:39 plain authenticator failed for (host) [10.1.2.4]: 535 Incorrect authentication data',
    ],
    reading: {
      kind: 'lines',
      // https://www.exim.org/exim-html-current/doc/html/spec_html/ch-log_files.html
      shapes: [
        {
          pattern: `^(?<time>${mailTime})(?: \\[(?<pid>\\d+)\\])? (?<id>${mailId}) (?<flag><=|=>|->|>>|\\*>|\\*\\*|==) (?<address>.*?)(?: (?<message>(?:[A-Za-z]+=|<=|\\[|:).*))?$`,
          pairs: { group: 'message', style: 'logfmt' },
          optional: ['pid'],
        },
        {
          pattern: `^(?<time>${mailTime})(?: \\[(?<pid>\\d+)\\])? (?<id>${mailId}) (?<message>.*)$`,
          optional: ['pid'],
        },
        {
          // Rejected before it has an id.
          pattern: `^(?<time>${mailTime})(?: \\[(?<pid>\\d+)\\])? (?<message>(?:H=|no (?:host name found|IP address)|SMTP |TLS |Start queue run|End queue run|[a-z_]+ authenticator failed for ).*)$`,
          optional: ['pid'],
        },
        {
          pattern: `^(?<time>${mailTime})(?: \\[(?<pid>\\d+)\\])? (?<message>.*)$`,
          loose: true,
          optional: ['pid'],
        },
      ],
    },
  },
  {
    name: 'zeek',
    label: 'Zeek log lines',
    example: [
      '#separator \\x09',
      '#fields\tts\tuid\tid.orig_h\tid.orig_p\tproto\tduration',
      '#types\ttime\tstring\taddr\tport\tenum\tinterval',
      '1760104536.123456\tCHhAvVGS1DHFjwGM9\t10.1.2.3\t49152\ttcp\t-',
    ],
    reading: {
      kind: 'headed',
      // https://docs.zeek.org/en/master/log-formats.html
      header: '^#fields\\t(.*)$',
      comment: '^#',
      absent: ['-', '(empty)'],
      escapes: true,
    },
  },
  {
    name: 'nps-csv',
    label: 'Windows RADIUS server records (NPS, IAS) in database format',
    example: [
      '"NPS1","IAS",10/13/2025,13:55:36,1,"SHOP\\ann","shop.example/ann","00-11","22-33",,,"ap1","10.1.2.3",7,9,"10.1.2.3","ap",,,19',
    ],
    reading: {
      kind: 'csv',
      begins: '^"[^"]*","(?:IAS|RAS|NPS)",\\d{1,2}[/.-]\\d{1,2}[/.-]\\d{4},\\d{1,2}:\\d{2}:\\d{2},\\d+,',
      // https://learn.microsoft.com/en-us/previous-versions/windows/it-pro/windows-server-2008-R2-and-2008/cc771748(v=ws.10)
      fields: [
        ...['computer', 'service', 'date', 'time', 'packet_type', 'user', 'full_user', 'called_station'],
        ...['calling_station', 'callback_number', 'framed_ip', 'nas', 'nas_ip', 'nas_port', 'client_vendor'],
        ...['client_ip', 'client', 'event_timestamp', 'port_limit', 'nas_port_type', 'connect_info'],
        ...['framed_protocol', 'service_type', 'authentication_type', 'policy', 'reason_code', 'class'],
      ],
    },
  },
  {
    name: 'windows-csv',
    label: 'Windows events as saved by Event Viewer in CSV',
    example: [
      'Level,Date and Time,Source,Event ID,Task Category',
      'Information,10/13/2025 1:55:36 PM,Service Control Manager,7036,None,"The Spooler service entered the running state."',
    ],
    reading: {
      kind: 'csv',
      begins: '^"?(?:Level|Keywords)"?,"?Date and Time"?,"?Source"?,"?Event ID"?,"?Task Category"?$',
      fields: ['', '', '', '', '', 'Message'],
      header: true,
    },
  },
];
