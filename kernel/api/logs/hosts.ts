import { type LogFormat, part } from './log-format.js';

const { iso, stack } = part;
const second = '\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}';
const week = '[A-Z][a-z]{2} [A-Z][a-z]{2}';

const doubled = '\\d{4}-\\d{2}-\\d{2} {1,2}\\d{2}:\\d{2}:\\d{2}';
/** Lines of an APT run, in order, and the field of each. */
const aptLines: readonly (readonly [name: string, field: string])[] = [
  ['Commandline', 'command'],
  ['Comment', 'comment'],
  ['Requested-By', 'user'],
  ['Install', 'install'],
  ['Reinstall', 'reinstall'],
  ['Upgrade', 'upgrade'],
  ['Downgrade', 'downgrade'],
  ['Remove', 'remove'],
  ['Purge', 'purge'],
  ['Disappeared', 'disappeared'],
  ['Error', 'error'],
  ['End-Date', 'end'],
];

/** Packages, printers, sign-in and virtual machines of a host, and its cluster jobs. */
export const hosts: readonly LogFormat[] = [
  {
    name: 'dpkg',
    label: 'dpkg or update-alternatives log lines',
    example: [
      '2025-10-10 13:55:36 status half-configured nano:amd64 7.2-1',
      '2025-10-10 13:55:37 upgrade nano:amd64 7.2-1 7.2-2',
      '2025-10-10 13:55:38 startup packages configure',
      'update-alternatives 2025-10-10 13:55:39: link group cart updated to point to /usr/bin/cart7',
    ],
    reading: {
      kind: 'lines',
      // https://man7.org/linux/man-pages/man1/dpkg.1.html
      shapes: [
        {
          pattern: `^(?<time>${second}) (?<action>status) (?<state>[a-z-]+) (?<package>\\S+) (?<installed>\\S+)$`,
        },
        {
          pattern: `^(?<time>${second}) (?<action>install|upgrade|configure|trigproc|disappear|remove|purge) (?<package>\\S+) (?<installed>\\S+)(?: (?<available>\\S+))?$`,
        },
        { pattern: `^(?<time>${second}) (?<action>startup|conffile|update-alternatives):? (?<message>.*)$` },
        { pattern: `^(?<action>update-alternatives) (?<time>${second}): (?<message>.*)$` },
      ],
      absent: { text: '<none>', fields: ['installed', 'available'] },
    },
  },
  {
    name: 'cups',
    label: 'CUPS error log lines',
    example: ['E [10/Oct/2025:13:55:36 +0000] [Job 7] cart is out of paper'],
    reading: {
      kind: 'lines',
      // https://openprinting.github.io/cups/doc/man-cupsd-logs.html
      shapes: [
        {
          pattern:
            '^(?<level>[XAECWNIDd]) \\[(?<time>\\d{2}/[A-Z][a-z]{2}/\\d{4}:\\d{2}:\\d{2}:\\d{2} [+-]\\d{4})\\] (?:\\[Job (?<job>\\d+)\\] )?(?<message>.*)$',
        },
      ],
    },
  },
  {
    name: 'sssd',
    label: 'SSSD debug lines',
    example: [
      '(2025-10-10 13:55:36): [be[shop.example]] [sysdb_add_user] (0x0040): [RID#3] ann exists',
      '(Fri Oct 10 13:55:37:259149 2025) [sssd] [start_service] (0x0100): queued',
    ],
    reading: {
      kind: 'lines',
      // https://sssd.io/troubleshooting/basics.html
      shapes: [
        {
          pattern: `^\\((?<time>${week} [ \\d]\\d \\d{2}:\\d{2}:\\d{2}(?::\\d{6})? \\d{4}|\\d{4}-\\d{2}-\\d{2} [ \\d]\\d:\\d{2}:\\d{2}(?::\\d{6})?)\\):? \\[(?<process>[^\\[\\]]+(?:\\[[^\\[\\]]*(?:\\[[^\\]]*\\])?\\])?)\\] \\[(?<function>[^\\]]*)\\] \\((?<level>0x[\\da-f]+)\\): (?<message>.*)$`,
        },
      ],
    },
  },
  {
    name: 'esxi',
    label: 'VMware ESXi or vCenter log lines',
    example: [
      '2025-10-10T13:55:36.559Z cpu7:35233 opID=82cf)VC: 2002: rescan took 704 msec',
      '2025-10-10T13:55:37.559Z In(182) vmkernel: cpu7:35233)VC: 2003: rescan took 705 msec',
      '2025-10-10T13:55:38Z Er(11) lifecycle[1000211352]: cart is lost',
      '2025-10-10T13:55:39.671Z info hostd[2099457] [Originator@6876 sub=Vimsvc opID=82cf] cart is ready',
      "2025-10-10T13:55:40.347Z [7F03ECE76700 verbose 'Default' opID=82cf] cart is ready",
    ],
    reading: {
      kind: 'lines',
      shapes: [
        {
          pattern: `^(?<time>${iso}) (?:(?<level>[A-Z][a-z])\\((?<code>\\d+)\\)(?<continued>\\[\\+?\\])? (?<program>vmkernel|vmkwarning): )?cpu(?<cpu>\\d+):(?<world>\\d+)(?: opID=(?<operation>[^)]*))?\\)(?<message>.*)$`,
        },
        {
          pattern: `^(?<time>${iso}) (?<level>In|Db|Wa|Er|No|Al|Cr|Em)\\((?<code>\\d+)\\)(?<continued>\\[\\+?\\])? (?<program>[^\\s:\\[]+)(?:\\[(?<pid>\\d+)\\])?: ?(?<message>.*)$`,
        },
        {
          pattern: `^(?<time>${iso}) (?<level>trivia|verbose|info|warning|error|panic) (?<program>[\\w.-]+)\\[(?<pid>[\\dA-F]+)\\] \\[Originator@6876(?: (?<origin>[^\\]]*))?\\] (?<message>.*)$`,
        },
        {
          pattern: `^(?<time>${iso}) \\[(?<thread>[\\dA-F]{8,16}) (?<level>[a-z]+) '(?<origin>[^']*)'(?: opID=(?<operation>[^\\]]*))?\\] (?<message>.*)$`,
        },
      ].map(shape => ({
        ...shape,
        optional: [
          'level',
          'code',
          'continued',
          'program',
          'cpu',
          'world',
          'operation',
          'pid',
          'thread',
          'origin',
        ],
      })),
    },
  },
  {
    name: 'spark',
    label: 'Spark or Hadoop log lines',
    timeAsInText: true,
    example: [
      '25/10/09 13:55:36 INFO executor.Cart: started',
      '25/10/10 13:55:37 ERROR executor.Cart: cart 7 is lost',
      'java.lang.IllegalStateException: no such cart',
      '\tat org.example.Carts.get(Carts.java:31)',
    ],
    reading: {
      kind: 'lines',
      begins: { line: '^\\d{2}/\\d{2}/\\d{2} \\d{2}:\\d{2}:\\d{2} [A-Z]+ |^\\d{6} \\d{6} \\d+ [A-Z]+ ' },
      // https://github.com/apache/spark/blob/master/conf/log4j2.properties.template
      shapes: [
        '(?<time>\\d{2}/\\d{2}/\\d{2} \\d{2}:\\d{2}:\\d{2})',
        // HDFS.
        '(?<time>\\d{6} \\d{6}) (?<thread>\\d+)',
      ].map(begin => ({
        pattern: `^${begin} (?<level>TRACE|DEBUG|INFO|WARN|ERROR|FATAL) (?<logger>[\\w.$*-]+): (?<message>.*)${stack}$`,
        optional: ['thread'],
      })),
    },
  },
  {
    name: 'apt',
    label: 'APT history (history.log, term.log)',
    example: [
      'Start-Date: 2025-10-10  13:55:36',
      'Commandline: apt-get install cart',
      'Requested-By: ann (1000)',
      'Install: cart:amd64 (7.2-1), wheel:amd64 (1.0-1, automatic)',
      'End-Date: 2025-10-10  13:55:38',
      '',
      'Log started: 2025-10-10  13:55:36',
      'Unpacking cart (7.2-1) ...',
      'Setting up cart (7.2-1) ...',
      'Log ended: 2025-10-10  13:55:38',
    ],
    reading: {
      kind: 'lines',
      begins: { line: '^(?:Start-Date|Log started): ' },
      // https://salsa.debian.org/apt-team/apt/-/blob/main/apt-pkg/deb/dpkgpm.cc
      shapes: [
        {
          pattern: `^Start-Date: (?<time>${doubled})${aptLines.map(([name, field]) => `(?:\\n${name}: (?<${field}>.*))?`).join('')}$`,
          optional: aptLines.map(([, field]) => field),
        },
        {
          pattern: `^Log started: (?<time>${doubled})(?:\\n(?<message>[\\s\\S]*?))?(?:\\nLog ended: (?<end>.*))?$`,
          optional: ['message', 'end'],
        },
        { pattern: `^Start-Date: (?<time>${doubled})\\n(?<message>${part.all})$`, loose: true },
      ],
    },
  },
  {
    name: 'shell-history',
    label: 'shell history (bash, zsh, fish)',
    example: [
      '#1760104536',
      'for n in 1 7; do',
      '  echo cart $n',
      'done',
      ': 1760104537:3;make cart',
      '- cmd: cat cart/7',
      '  when: 1760104538',
      '  paths:',
      '    - cart/7',
    ],
    reading: {
      kind: 'lines',
      begins: { line: '^#\\+?\\d{9,10}$|^: \\d{9,10}:\\d+;|^- cmd: ' },
      shapes: [
        // HISTTIMEFORMAT of https://www.gnu.org/software/bash/manual/bash.html#Bash-Variables
        { pattern: `^#\\+?(?<time>\\d{9,10})\\n(?<command>${part.all})$` },
        {
          // EXTENDED_HISTORY of https://zsh.sourceforge.io/Doc/Release/Options.html
          pattern: `^: (?<time>\\d{9,10}):(?<seconds>\\d+);(?<command>${part.all})$`,
        },
        {
          pattern: `^- cmd: (?<command>.*)\\n +when: (?<time>\\d{9,10})(?:\\n +paths:\\n(?<paths>${part.all}))?$`,
          optional: ['paths'],
        },
      ],
    },
  },
  {
    name: 'webmin',
    label: 'Webmin log lines',
    example: [
      '1760104536.1234.0 [10/Oct/2025 15:55:36] root 5f1c 10.1.2.3 useradmin save_user.cgi "modify" "user" "ann" shell=/bin/sh',
      '1760104537.1234.0 [10/Oct/2025 15:55:37] ann - 10.1.2.3 global miniserv.pl "failed" "-" "wrongpass"',
    ],
    reading: {
      kind: 'lines',
      // The time in brackets is the server's local time, without a zone.
      shapes: [
        {
          pattern: `^(?<time>\\d{9,10})\\.(?<pid>\\d+)\\.(?<sequence>\\d+) \\[(?<local_time>[^\\]]*)\\] (?<user>\\S+) (?<session>\\S+) (?<client>\\S+) (?<module>\\S+) (?<script>\\S+) "(?<action>[^"]*)" "(?<type>[^"]*)" "(?<object>[^"]*)"(?: (?<rest>.*))?$`,
          optional: ['rest'],
        },
      ],
      absent: { text: '-', fields: ['session', 'type', 'object'] },
    },
  },
  {
    name: 'bacula',
    label: 'Bacula or Bareos log lines',
    timeAsInText: true,
    example: [
      '10-Oct 13:55 edge-dir JobId 7: Start Backup JobId 7, Job=cart.2025-10-10_13.55.00_07',
      '10-Oct 13:56 edge-sd JobId 7: Fatal error: cart is lost',
      '  JobId:                  7',
    ],
    reading: {
      kind: 'lines',
      begins: { line: '^\\d{2}-[A-Z][a-z]{2} \\d{2}:\\d{2} \\S+ JobId \\d+: ' },
      shapes: [
        {
          pattern: `^(?<time>\\d{2}-[A-Z][a-z]{2} \\d{2}:\\d{2}) (?<daemon>\\S+) JobId (?<job>\\d+): (?<message>${part.all})$`,
        },
      ],
    },
  },
  {
    name: 'qbittorrent',
    label: 'qBittorrent log lines',
    example: ['(W) 2025-10-10T13:55:36 - cart 7 is lost'],
    reading: {
      kind: 'lines',
      shapes: [{ pattern: `^\\((?<level>[NIWC])\\) (?<time>${iso}) - (?<message>.*)$` }],
    },
  },
];
