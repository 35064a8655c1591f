import { expect, test } from 'vitest';
import { logFormats } from '../../../kernel/api/logs/formats.js';

// ---- lines beside the examples of formats: what is not there, and what only looks alike ----

/** Returns the groups with a value of the first shape that a line has, as text; undefined if it has none. */
function groupsIn(format: string, line: string): string | undefined {
  const reading = logFormats.find(({ name }) => name === format)?.reading;
  if (reading?.kind !== 'lines') throw new Error(`${format} has no shapes`);
  const found = reading.shapes
    .map(({ pattern }) => new RegExp(pattern, 'u').exec(line))
    .find(match => match !== null);
  const groups = Object.entries(found?.groups ?? {}).filter(([, value]) => value !== undefined);
  return found && groups.map(([name, value]) => `${name}=${value}`).join('|');
}

const at = '2025-10-10T13:55:36';

test.each([
  ['compose', 'web-1  | cart is ready', 'service=web-1|message=cart is ready'],
  ['compose', `web-1  | ${at}.1Z `, `service=web-1|time=${at}.1Z|message=`],
  ['compose', 'web-1  |', 'service=web-1'],
  ['compose', 'web-1 | one blank', undefined],
  ['compose', '  | no service', undefined],
  ['compose', 'two words  | x', undefined],
  ['kubectl', '[pod/cart-7/app] ', 'pod=cart-7|container=app|message='],
  ['kubectl', 'x[pod/cart-7/app] a', undefined],
  ['kubectl', '[pod//app] a', undefined],
  ['kubectl', '[pod/cart/] a', undefined],
  ['kubectl', '[pod/a]b/app] a', undefined],
  ['stern', 'cart-0 a x', 'pod=cart-0|container=a|message=x'],
  ['stern', 'c-12 app ', 'pod=c-12|container=app|message='],
  ['stern', 'cart-abcdef app x', undefined],
  ['stern', 'Xcart-x2x9k app x', undefined],
  ['stern', 'cartx2x9k app x', undefined],
  ['stern', 'cart-zz app x', undefined],
  ['github-actions', `${at}.1234567Z `, `time=${at}.1234567Z|message=`],
  ['github-actions', `${at}.123456Z a`, undefined],
  ['github-actions', `x${at}.1234567Z a`, undefined],
  ['heroku', `${at}+00:00 app[worker-1.2]: `, `time=${at}+00:00|source=app|process=worker-1.2|message=`],
  [
    'heroku',
    `${at}+00:00 heroku[router]: sock=client`,
    `time=${at}+00:00|source=heroku|process=router|message=sock=client`,
  ],
  [
    'heroku',
    `${at}+00:00 heroku[router]: error`,
    `time=${at}+00:00|source=heroku|process=router|message=error`,
  ],
  ['heroku', `${at}+00:00 other[web.1]: a`, undefined],
  ['heroku', `x${at}+00:00 app[web.1]: a`, undefined],
  [
    'squid',
    '1760104536.123 -1 10.1.2.3 NONE/000 0 - error:x - HIER_NONE/- - more',
    'time=1760104536.123|elapsed_ms=-1|client=10.1.2.3|result=NONE|status=000|bytes=0|method=-|uri=error:x|user=-|hierarchy=HIER_NONE|server=-|content_type=-|rest=more',
  ],
  ['squid', 'x1760104536.123 1 c TCP_MISS/200 5 GET / - DIRECT/a b', undefined],
  ['squid', '1760104536.123 1 c TCP_MISS/20 5 GET / - DIRECT/a b', undefined],
  ['squid', '1760104536.12 1 c TCP_MISS/200 5 GET / - DIRECT/a b', undefined],
  ['squid', '176010453.123 1 c TCP_MISS/200 5 GET / - DIRECT/a b', undefined],
  ['squid', '1760104536.123 1 c /200 5 GET / - DIRECT/a b', undefined],
  [
    'uwsgi',
    '[pid: 3|app: |req: 1/1]  (ann) {1 vars in 2 bytes} [x] GET /a b => generated 6 bytes in 3 msecs via sendfile() (HTTP/1.1 200) ',
    'pid=3|app=|requests=1/1|client=|user=ann|variables=1|variable_bytes=2|time=x|method=GET|uri=/a b|bytes=6|duration_ms=3|via=via sendfile()|protocol=HTTP/1.1|status=200|rest=',
  ],
  [
    'uwsgi',
    '[pid: 3|app: 0|req: 1/1] c () {1 vars in 2 bytes} [x] GET /a => generated 6 bytes in 3 msecs (HTTP/1.1 20) a',
    undefined,
  ],
  [
    'django',
    '[10/Oct/2025 13:55:36] "GET / HTTP/1.1" 304 -',
    'time=10/Oct/2025 13:55:36|request=GET / HTTP/1.1|status=304|bytes=-',
  ],
  ['django', '[10/Oct/2025 13:55:36] "GET / HTTP/1.1" 304 0 x', undefined],
  ['django', '[10/Oct/2025 13:55:36] "GET / HTTP/1.1" 3040 0', undefined],
  ['django', 'x[10/Oct/2025 13:55:36] "GET / HTTP/1.1" 304 0', undefined],
  [
    'elasticsearch',
    `[${at},123][INFO ][logger] a\nb`,
    `time=${at},123|level=INFO|logger=logger|message=a|stack=b`,
  ],
  ['elasticsearch', `[${at},123][INFO][l] [] a`, `time=${at},123|level=INFO|logger=l|node=|message=a`],
  ['elasticsearch', `[${at},123][info][l] a`, undefined],
  ['elasticsearch', `x[${at},123][INFO][l] a`, undefined],
  ['jvm', '[1.234s][info   ][gc,start     ] GC(7) a', 'uptime=1.234|level=info|tags=gc,start|gc=7|message=a'],
  ['jvm', `[${at}.123+0000][31][gc] a`, `time=${at}.123+0000|pid=31|tags=gc|message=a`],
  ['jvm', `[${at}.123+0000][31][info][gc] `, `time=${at}.123+0000|tid=31|level=info|tags=gc|message=`],
  [
    'jvm',
    '[1.234s][warning][safepoint+stats] a',
    'uptime=1.234|level=warning|tags=safepoint+stats|message=a',
  ],
  ['jvm', '[1.234s][info][1gc] a', undefined],
  ['jvm', '[1.234s][INFO][gc] a', undefined],
  ['jvm', 'x[1.234s][info][gc] a', undefined],
  [
    'tomcat',
    '1-Oct-2025 13:55:36 INFO [] a.B.<init>',
    'time=1-Oct-2025 13:55:36|level=INFO|thread=|logger=a.B.<init>|message=',
  ],
  [
    'tomcat',
    'Oct 1, 2025 11:55:37 AM a.B\nINFO: ',
    'time=Oct 1, 2025 11:55:37 AM|logger=a.B|level=INFO|message=',
  ],
  ['tomcat', 'Oct 1, 2025 1:55:37 XM a.B get\nINFO: a', undefined],
  ['tomcat', '1-Oct-2025 13:55:36 info [main] a.B a', undefined],
  [
    'weblogic',
    '####<a> <Info> <Server> <h> <s> <t> <<anonymous>> <> <> <1> <BEA-1> <a\n<b>>',
    'logged=a|level=Info|subsystem=Server|host=h|server=s|thread=t|user=<anonymous>|transaction=|context=|time=1|code=BEA-1|message=a\n<b>',
  ],
  ['weblogic', '###<a> <Info> <Server> <h> <s> <t> <u> <> <> <1> <BEA-1> <a>', undefined],
  ['dotnet', 'warn: A.B`1+C[-1]\n      a', 'level=warn|category=A.B`1+C|event_id=-1|message=a'],
  ['dotnet', `[${at}] crit: A[0] a\n b`, `time=${at}|level=crit|category=A|event_id=0|message=a|stack= b`],
  ['dotnet', 'dbug: A[0]', 'level=dbug|category=A|event_id=0'],
  ['dotnet', 'debug: A[0]\n      a', undefined],
  ['tracing', `${at}.123456789Z TRACE a: `, `time=${at}.123456789Z|level=TRACE|target=a|message=`],
  [
    'tracing',
    `${at}.123456Z  INFO r{a=1}:s{b=2}: a::b: x\n    at src/a.rs:3\nmore`,
    `time=${at}.123456Z|level=INFO|spans=r{a=1}:s{b=2}|target=a::b|message=x|source=src/a.rs:3|stack=more`,
  ],
  ['tracing', `${at}.12345Z INFO a: x`, undefined],
  [
    'tracing',
    `[${at}.123Z DEBUG a-b.c::d] x\ny`,
    `time=${at}.123Z|level=DEBUG|target=a-b.c::d|message=x|stack=y`,
  ],
  ['tracing', `[${at}Z NOTICE a] x`, undefined],
  [
    'php',
    '[10-Oct-2025 13:55:36 Europe/Berlin] PHP Parse error:  x\ny',
    'time=10-Oct-2025 13:55:36 Europe/Berlin|level=Parse error|message=x|stack=y',
  ],
  [
    'php',
    '[10-Oct-2025 13:55:36] NOTICE: fpm is running',
    'time=10-Oct-2025 13:55:36|level=NOTICE|message=fpm is running',
  ],
  ['php', '[10-Oct-2025 13:55:36] INFO: a', 'time=10-Oct-2025 13:55:36|message=INFO: a'],
  ['php', 'x[10-Oct-2025 13:55:36] NOTICE: a', undefined],
  ['php', '[10-Oct-2025 13:55:36.5] NOTICE: ', 'time=10-Oct-2025 13:55:36.5|level=NOTICE|message='],
  [
    'php',
    '[10-Oct-2025 13:55:36] ALERT: [pool ] a\nb',
    'time=10-Oct-2025 13:55:36|level=ALERT|pool=|message=a|stack=b',
  ],
  ['php', '[10-Oct-2025 13:55:36] PHP N:  \n', 'time=10-Oct-2025 13:55:36|level=N|message=|stack='],
  ['php', '[10-Oct-2025 13:55:36] PHP notice:  a', 'time=10-Oct-2025 13:55:36|message=PHP notice:  a'],
  ['php', 'a [10-Oct-2025 13:55:36] PHP Notice:  a', undefined],
  [
    'tracing',
    `${at}.123456Z  INFO a{}:b{}: c: \n`,
    `time=${at}.123456Z|level=INFO|spans=a{}:b{}|target=c|message=|stack=`,
  ],
  [
    'tracing',
    `${at}.123456Z  INFO a{x=1:2}: c: d\n  at e:f`,
    `time=${at}.123456Z|level=INFO|spans=a{x=1:2}|target=c|message=d|stack=  at e:f`,
  ],
  ['tracing', `${at}.123456Z  INFO : d`, undefined],
  ['tracing', `20255${at.slice(4)}.123456Z  INFO a: d`, undefined],
  ['tracing', `${at.replace('10-10', '10-100')}.123456Z  INFO a: d`, undefined],
  ['tracing', `${at.replace('10-10', '100-10')}.123456Z  INFO a: d`, undefined],
  ['tracing', `${at}0.123456Z  INFO a: d`, undefined],
  ['tracing', `${at}.1234567890Z  INFO a: d`, undefined],
  ['tracing', `[${at.replace('10-10', '10-100')}Z  INFO a] d`, undefined],
  ['tracing', `[${at.replace('10-10', '100-10')}Z  INFO a] d`, undefined],
  ['tracing', `[20255${at.slice(4)}Z  INFO a] d`, undefined],
  ['tracing', `[${at}Z  INFO ] d`, undefined],
  ['tracing', `[${at.slice(0, 11)}Z  INFO a] d`, undefined],
  ['tracing', `[${at}Z INFO a] \n`, `time=${at}Z|level=INFO|target=a|message=|stack=`],
  [
    'weblogic',
    '####<> <> <> <> <> <> <> <> <> <> <> <>',
    'logged=|level=|subsystem=|host=|server=|thread=|user=|transaction=|context=|time=|code=|message=',
  ],
  [
    'weblogic',
    '####<a> <b> <c> <d> <e> <f> <> g> <<u>> <h> <i> <7> <[x] > <k> <l> \n',
    'logged=a|level=b|subsystem=c|host=d|server=e|thread=f> <> g|user=<u>|transaction=h|context=i|time=7|attributes=[x] |code=k|message=l',
  ],
  [
    'nest',
    '[Nest] 31 - 10/13/2025, 1:55:36 PM ERROR [] \n',
    'pid=31|time=10/13/2025, 1:55:36 PM|level=ERROR|context=|message=|stack=',
  ],
  ['nest', '[Nest] 31 - 100/13/2025, 1:55:36 PM ERROR a', undefined],
  ['nest', '[Nest] 31 - 10/130/2025, 1:55:36 PM ERROR a', undefined],
  ['nest', '[Nest] 31 - 10/13/20255, 1:55:36 PM ERROR a', undefined],
  ['nest', '[Nest] 31 - 10/13/2025, 1:55:36:00 PM ERROR a', undefined],
  ['nest', '[Nest] 31 - 10/13/2025, 1:55:36 PM  a', undefined],
  ['tomcat', 'Oct 10, 2025 1:55:37 PM a.B get two\nINFO: a', undefined],
  ['tomcat', 'Oct 100, 2025 1:55:37 PM a.B get\nINFO: a', undefined],
  ['tomcat', 'Oct 10, 20255 1:55:37 PM a.B get\nINFO: a', undefined],
  ['tomcat', 'Oct 10, 2025 1:55:37:00 PM a.B get\nINFO: a', undefined],
  ['tomcat', 'Oct 10, 2025 1:55:37 PM a.B get\n: a', undefined],
  [
    'tomcat',
    'Oct 10, 2025 1:55:37 PM a.B get\nINFO: a\n',
    'time=Oct 10, 2025 1:55:37 PM|logger=a.B get|level=INFO|message=a|stack=',
  ],
  ['tomcat', 'xOct 10, 2025 1:55:37 PM a.B get\nINFO: a', undefined],
  [
    'uwsgi',
    '[pid: x|app: 0|req: 1/1] c () {4 vars in 7 bytes} [x] GET / => generated 6 bytes in 3 msecs (HTTP/1.1 200) 2',
    undefined,
  ],
  [
    'uwsgi',
    '[pid: 3|app: 0|req: ] c () {4 vars in 7 bytes} [x] GET  => generated 6 bytes in 3 msecs (HTTP/1.1 200) [y] 2',
    'pid=3|app=0|requests=|client=c|user=|variables=4|variable_bytes=7|time=x|method=GET|uri=|bytes=6|duration_ms=3|protocol=HTTP/1.1|status=200|rest=[y] 2',
  ],
  [
    'uwsgi',
    '[pid: |app: 0|req: 1] c () {4 vars in 7 bytes} [x] GET / => generated 6 bytes in 3 msecs (HTTP/1.1 200) 2',
    undefined,
  ],
  [
    'uwsgi',
    '[pid: 3|app: 0|req: 1] c () { vars in 7 bytes} [x] GET / => generated 6 bytes in 3 msecs (HTTP/1.1 200) 2',
    undefined,
  ],
  [
    'uwsgi',
    '[pid: 3|app: 0|req: 1] c () {4 vars in  bytes} [x] GET / => generated 6 bytes in 3 msecs (HTTP/1.1 200) 2',
    undefined,
  ],
  [
    'uwsgi',
    '[pid: 3|app: 0|req: 1] c () {4 vars in 7 bytes} [] GET / => generated 6 bytes in 3 msecs (HTTP/1.1 200) 2',
    undefined,
  ],
  [
    'uwsgi',
    '[pid: 3|app: 0|req: 1] c () {4 vars in 7 bytes} [x] GET / => generated  bytes in 3 msecs (HTTP/1.1 200) 2',
    undefined,
  ],
  [
    'uwsgi',
    '[pid: 3|app: 0|req: 1] c () {4 vars in 7 bytes} [x] GET / => generated 6 bytes in  msecs (HTTP/1.1 200) 2',
    undefined,
  ],
  [
    'uwsgi',
    '[pid: 3|app: 0|req: 1] c () {4 vars in 7 bytes} [x] GET / => generated 6 bytes in 3 msecs ( 200) 2',
    undefined,
  ],
  [
    'uwsgi',
    '[pid: 3|app: 0|req: 1] c () {4 vars in 7 bytes} [x]  / => generated 6 bytes in 3 msecs (HTTP/1.1 200) 2',
    undefined,
  ],
  ['squid', '1760104536.1234 1 c TCP_MISS/200 5 GET / - DIRECT/a b', undefined],
  ['squid', '1760104536.123 1 c TCP_MISS/2000 5 GET / - DIRECT/a b', undefined],
  ['squid', '1760104536.1231 c TCP_MISS/200 5 GET / - DIRECT/a b', undefined],
  ['squid', '1760104536.123 1 c TCP_MISS/200  GET / - DIRECT/a b', undefined],
  ['squid', '1760104536.123 1 c TCP_MISS/200 5 GET / - /a b', undefined],
  ['squid', '1760104536.123 1 c TCP_MISS/200 5 GET / - DIRECT/ b', undefined],
  ['squid', '1760104536.123 1  TCP_MISS/200 5 GET / - DIRECT/a b', undefined],
  ['squid', '1760104536.123 - c TCP_MISS/200 5 GET / - DIRECT/a b', undefined],
  ['github-actions', `20255${at.slice(4)}.1234567Z a`, undefined],
  ['github-actions', `${at.replace('10-10', '100-10')}.1234567Z a`, undefined],
  ['github-actions', `${at.replace('10-10', '10-100')}.1234567Z a`, undefined],
  ['github-actions', `${at}0.1234567Z a`, undefined],
  ['compose', `web-1  | ${at}0.1Z a`, `service=web-1|message=${at}0.1Z a`],
  [
    'compose',
    `web-1  | ${at.replace('10-10', '100-10')}.1Z a`,
    `service=web-1|message=${at.replace('10-10', '100-10')}.1Z a`,
  ],
  [
    'compose',
    `web-1  | ${at.replace('10-10', '10-100')}.1Z a`,
    `service=web-1|message=${at.replace('10-10', '10-100')}.1Z a`,
  ],
  ['compose', `web-1  | ${at}.1234567890Z a`, `service=web-1|message=${at}.1234567890Z a`],
  ['django', '[100/Oct/2025 13:55:36] "GET / HTTP/1.1" 304 0', undefined],
  ['django', '[10/Oct/20255 13:55:36] "GET / HTTP/1.1" 304 0', undefined],
  ['django', '[10/Octo/2025 13:55:36] "GET / HTTP/1.1" 304 0', undefined],
  ['django', '[10/Oct/2025 13:55:36:00] "GET / HTTP/1.1" 304 0', undefined],
  [
    'nest',
    '[Nest] 3 - 1/3/2025, 11:55:36 AM LOG a\nb',
    'pid=3|time=1/3/2025, 11:55:36 AM|level=LOG|message=a|stack=b',
  ],
  ['nest', '[Nest] 3 - 1/3/2025, 11:55:36 XM LOG a', undefined],
  ['nest', '[Nest] x - 1/3/2025, 11:55:36 AM LOG a', undefined],
  [
    'uvicorn',
    'INFO:     [::1]:5 - "GET / HTTP/1.1" 200',
    'level=INFO|client=[::1]:5|request=GET / HTTP/1.1|status=200',
  ],
  ['uvicorn', 'CRITICAL:  a\nb', 'level=CRITICAL|message=a|stack=b'],
  ['uvicorn', 'INFO: a', undefined],
  [
    'uvicorn',
    'INFO: 10.1.2.3:5 - "GET / HTTP/1.1" 401 Unauthorized',
    'level=INFO|client=10.1.2.3:5|request=GET / HTTP/1.1|status=401|reason=Unauthorized',
  ],
  [
    'named',
    '10-Oct-2025 13:55:36.123 client @0x7f 10.1.2.3#49 (shop.example): query denied',
    'time=10-Oct-2025 13:55:36.123|client_id=0x7f|client=10.1.2.3|client_port=49|name=shop.example|message=query denied',
  ],
  [
    'named',
    '10-Oct-2025 13:55:36.123 security: client ::1#49: a',
    'time=10-Oct-2025 13:55:36.123|category=security|client=::1|client_port=49|message=a',
  ],
  ['named', '10-Oct-2025 13:55:36.123 zone shop.example: loaded', undefined],
  [
    'gin',
    `${at}Z | 401 | 279µs | 10.1.2.3 | POST "/a"`,
    `time=${at}Z|status=401|latency=279µs|client=10.1.2.3|method=POST|uri=/a`,
  ],
  [
    'syslog',
    '<133>Oct 10 13:55:36 haproxy[7]: a',
    'priority=133|time=Oct 10 13:55:36|program=haproxy|pid=7|message=a',
  ],
  [
    'syslog',
    "Oct 10 13:55:36 su: 'su root' failed",
    "time=Oct 10 13:55:36|program=su|message='su root' failed",
  ],
  ['syslog', `${at}Z ERROR: a`, undefined],
  [
    'syslog',
    '<191>Oct 10 13:55:36 asa1: %ASA-6-302013: Built: a',
    'priority=191|time=Oct 10 13:55:36|host=asa1|program=ASA-6-302013|message=Built: a',
  ],
  [
    'syslog',
    'Oct 10 2025 13:55:36 asa1 : %FTD-4-1: a',
    'time=Oct 10 2025 13:55:36|host=asa1|program=FTD-4-1|message=a',
  ],
  [
    'syslog',
    'Oct 10 13:55:36.123 edge.example CRON[7]: a',
    'time=Oct 10 13:55:36.123|host=edge.example|program=CRON|pid=7|message=a',
  ],
  [
    'syslog',
    'août 10 13:55:36 edge cron[7]: a',
    'time=août 10 13:55:36|host=edge|program=cron|pid=7|message=a',
  ],
  [
    'syslog',
    'Oct 10 13:55:36 edge syslogd 1.4.1: a',
    'time=Oct 10 13:55:36|host=edge|program=syslogd 1.4.1|message=a',
  ],
  [
    'syslog',
    'Oct 10 13:55:36 mac launchd[1] (com.example.cart[7]): a: b',
    'time=Oct 10 13:55:36|host=mac|program=launchd|pid=1|service=com.example.cart[7]|message=a: b',
  ],
  ['syslog', `${at}Z [AUTH] WARN: a`, undefined],
  [
    'syslog',
    'Oct 10 13:55:36 mac Two Words Here[7]: a',
    'time=Oct 10 13:55:36|host=mac|program=Two Words Here|pid=7|message=a',
  ],
  ['syslog', `${at}Z ACCEPT host=::1 port=7`, `time=${at}Z|host=ACCEPT|message=host=::1 port=7`],
  [
    'syslog',
    'Oct 10 13:55:36 2001:db8::7 cron: a',
    'time=Oct 10 13:55:36|host=2001:db8::7|program=cron|message=a',
  ],
  [
    'exim',
    '2025-10-10 13:55:36 H=a.example [10.1.2.3] F=<a@b> rejected RCPT <c@d>: no',
    'time=2025-10-10 13:55:36|message=H=a.example [10.1.2.3] F=<a@b> rejected RCPT <c@d>: no',
  ],
  [
    'exim',
    '2025-10-10 13:55:36 dovecot_login authenticator failed for ([10.1.2.3]) [10.1.2.4]: 535 no',
    'time=2025-10-10 13:55:36|message=dovecot_login authenticator failed for ([10.1.2.3]) [10.1.2.4]: 535 no',
  ],
  [
    'apache-error',
    '[Fri Oct 10 13:55:36.123456 2025] [authz_core:debug] [pid 9:tid 7] mod_authz_core.c(820): [client 10.1.2.3:50112] AH01626: a',
    'time=Fri Oct 10 13:55:36.123456 2025|module=authz_core|level=debug|pid=9|tid=7|source=mod_authz_core.c(820)|client=10.1.2.3|client_port=50112|code=AH01626|message=a',
  ],
  [
    'apache-error',
    '[10/Oct/2025:13:55:36 +0000] [ab:alert] [client eda7:35d:3ceb:ef1e:2133:e7bf:116e:24cc:24259] a',
    'time=10/Oct/2025:13:55:36 +0000|module=ab|level=alert|client=eda7:35d:3ceb:ef1e:2133:e7bf:116e:24cc|client_port=24259|message=a',
  ],
  [
    'apache-error',
    '[Fri Oct 10 13:55:36 2025] [error] [client 2001:db8::1] a',
    'time=Fri Oct 10 13:55:36 2025|level=error|client=2001:db8::1|message=a',
  ],
  [
    'apache-error',
    '[Fri Oct 10 13:55:36 2025] [error] [client [2001:db8::1]:7] a',
    'time=Fri Oct 10 13:55:36 2025|level=error|client=[2001:db8::1]|client_port=7|message=a',
  ],
  [
    'haproxy',
    '10.1.2.3:33317 [10/Oct/2025:13:55:36.655] in~ shop/srv1 1/2/3/4/+5 200 7 - - ---- 1/1/1/1/0 0/0 "GET / HTTP/1.1"',
    'client=10.1.2.3|client_port=33317|time=10/Oct/2025:13:55:36.655|frontend=in~|backend=shop|server=srv1|request_ms=1|queue_ms=2|connect_ms=3|response_ms=4|total_ms=+5|status=200|bytes=7|request_cookie=-|response_cookie=-|termination=----|active=1|frontend_active=1|backend_active=1|server_active=1|retries=0|server_queue=0|backend_queue=0|request=GET / HTTP/1.1',
  ],
  [
    'haproxy',
    '<134>Oct 10 13:55:36 haproxy[7]: 10.1.2.3:33317 [10/Oct/2025:13:55:36.655] in/1: SSL handshake failure',
    'syslog_time=Oct 10 13:55:36|program=haproxy|pid=7|client=10.1.2.3|client_port=33317|time=10/Oct/2025:13:55:36.655|frontend=in|server=1|message=SSL handshake failure',
  ],
  [
    'haproxy',
    'Oct 10 13:55:36 edge haproxy[7]: Proxy in started.',
    'syslog_time=Oct 10 13:55:36|host=edge|program=haproxy|pid=7|message=Proxy in started.',
  ],
  [
    'combined',
    '10.1.2.3 - - [10/Oct/2025:13:55:36 +0000] "GET / HTTP/1.1" 200 7 "-" "curl" "10.0.0.1, 2001:db8::1" x',
    'client=10.1.2.3|ident=-|user=-|time=10/Oct/2025:13:55:36 +0000|request=GET / HTTP/1.1|status=200|bytes=7|referer=-|user_agent=curl|forwarded_for=10.0.0.1, 2001:db8::1|rest=x',
  ],
  [
    'combined',
    '10.1.2.3 - - [10/Oct/2025:13:55:36 +0000] "GET / HTTP/1.1" 200 7 "-" "curl" "2.75"',
    'client=10.1.2.3|ident=-|user=-|time=10/Oct/2025:13:55:36 +0000|request=GET / HTTP/1.1|status=200|bytes=7|referer=-|user_agent=curl|rest="2.75"',
  ],
  [
    'combined',
    '10.1.2.3 - - [10/Oct/2025:13:55:36 +0000] "GET / HTTP/1.1" 200 7 - -',
    'client=10.1.2.3|ident=-|user=-|time=10/Oct/2025:13:55:36 +0000|request=GET / HTTP/1.1|status=200|bytes=7',
  ],
  [
    'postgres',
    '2025-10-10 13:55:36.123 UTC [31] 10.1.2.3 ann@shop FATAL:  a',
    'time=2025-10-10 13:55:36.123 UTC|pid=31|client=10.1.2.3|user=ann|database=shop|level=FATAL|message=a',
  ],
  [
    'postgres',
    '10.1.2.3 2025-10-10 13:55:36.123 UTC [31] ann@shop FATAL:  a',
    'client=10.1.2.3|time=2025-10-10 13:55:36.123 UTC|pid=31|user=ann|database=shop|level=FATAL|message=a',
  ],
  [
    'postgres',
    '2025-10-10 13:55:36 UTC [31]: [7-1] user=ann,db=shop,app=psql,client=10.1.2.3 LOG:  a',
    'time=2025-10-10 13:55:36 UTC|pid=31|line_number=7|user=ann|database=shop|application=psql|client=10.1.2.3|level=LOG|message=a',
  ],
  ['postgres', '2025-10-10 13:55:36 UTC [31] ann@shop ALARM:  a', undefined],
  [
    'logcat',
    '10-10 13:55:36.123  1702  2395 D Cart Service : a: b',
    'time=10-10 13:55:36.123|pid=1702|tid=2395|level=D|tag=Cart Service|message=a: b',
  ],
  [
    'logcat',
    '10-10 13:55:36.123 E/Cart( 17): a',
    'time=10-10 13:55:36.123|level=E|tag=Cart|pid=17|message=a',
  ],
  ['logcat', '10-10 13:55:36.123  1702  2395 X Cart: a', undefined],
  [
    'oslo',
    `x.log ${at.replace('T', ' ')}.123 7 INFO nova.api [req-1 - -] a\nb`,
    `file=x.log|time=${at.replace('T', ' ')}.123|pid=7|level=INFO|logger=nova.api|request=req-1 - -|message=a|stack=b`,
  ],
  ['oslo', `${at}.123 INFO nova.api [-] a`, undefined],
  [
    'odoo',
    `${at},123 7 INFO ? odoo.http: a`,
    `time=${at},123|pid=7|level=INFO|database=?|logger=odoo.http|message=a`,
  ],
  ['odoo', `${at},123 7 INFO odoo.http: a`, undefined],
  ['monit', "[CEST Oct 10 13:55:36] error    : 'a' b", "time=CEST Oct 10 13:55:36|level=error|message='a' b"],
  ['monit', `[${at}+0200] info     : a`, `time=${at}+0200|level=info|message=a`],
  ['monit', '[CEST Oct 10 13:55:36] odd : a', undefined],
  [
    'asterisk',
    '[Oct 10 13:55:36] NOTICE[7][C-00000a]: chan.c:31 in do: a: b',
    'time=Oct 10 13:55:36|level=NOTICE|thread=7|call=C-00000a|source=chan.c:31|function=do|message=a: b',
  ],
  ['asterisk', '[Oct 10 13:55:36] NOTICE: chan.c:31 do: a', undefined],
  [
    'freeswitch',
    '2025-10-10 13:55:36.123456 [NOTICE] a.c:31 b',
    'time=2025-10-10 13:55:36.123456|level=NOTICE|source=a.c:31|message=b',
  ],
  [
    'gitea',
    '2025/10/10 13:55:36 cmd/web.go:31:run() [I] a',
    'time=2025/10/10 13:55:36|source=cmd/web.go:31|function=run()|level=I|message=a',
  ],
  [
    'nagios',
    '[1760104536] CURRENT HOST STATE: web1;UP;HARD;1;PING OK; a',
    'time=1760104536|event=CURRENT HOST STATE|host=web1|state=UP|state_type=HARD|attempt=1|message=PING OK; a',
  ],
  [
    'nagios',
    '[1760104536] SERVICE ALERT: web1;Cart;OK;SOFT;12;a;b',
    'time=1760104536|event=SERVICE ALERT|host=web1|service=Cart|state=OK|state_type=SOFT|attempt=12|message=a;b',
  ],
  ['nagios', '[1760104536] Saved.', 'time=1760104536|message=Saved.'],
  [
    'freeswitch',
    '68e90f1f-0000-4000-8000-68e90f1f0000 2025-10-10 13:55:36 [INFO] a.c:31 b',
    'session=68e90f1f-0000-4000-8000-68e90f1f0000|time=2025-10-10 13:55:36|level=INFO|source=a.c:31|message=b',
  ],
  [
    'vsftpd',
    'Fri Oct 10 13:55:36 2025 [pid 31] [ann] OK LOGIN: Client "10.1.2.3"',
    'time=Fri Oct 10 13:55:36 2025|pid=31|user=ann|event=OK LOGIN|client=10.1.2.3',
  ],
  [
    'asterisk',
    '[Oct 10 13:55:36.123] NOTICE[7] a.c:31 b: c',
    'time=Oct 10 13:55:36.123|level=NOTICE|thread=7|source=a.c:31|function=b|message=c',
  ],
  ['nagios', '[1760104536] LOG ROTATION: DAILY', 'time=1760104536|event=LOG ROTATION|message=DAILY'],
  [
    'vsftpd',
    'Fri Oct 10 13:55:36 2025 [pid 31] CONNECT: Client "::ffff:10.1.2.3"',
    'time=Fri Oct 10 13:55:36 2025|pid=31|event=CONNECT|client=::ffff:10.1.2.3',
  ],
  [
    'proftpd',
    `${at},123 edge proftpd[31] edge: ready`,
    `time=${at},123|host=edge|program=proftpd|pid=31|server=edge|message=ready`,
  ],
  [
    'cbs',
    '2025-10-10 13:55:36, Warning               DISM   a',
    'time=2025-10-10 13:55:36|level=Warning|component=DISM|message=a',
  ],
  [
    'mongodb-text',
    `${at}.123+0000 F -        [conn11] a`,
    `time=${at}.123+0000|level=F|component=-|context=conn11|message=a`,
  ],
  ['mongodb-text', `${at}.123+0000 X NETWORK [conn11] a`, undefined],
  [
    'sqlserver',
    '2025-10-10 13:55:36.12 spid7s      a\nb',
    'time=2025-10-10 13:55:36.12|process=spid7s|message=a\nb',
  ],
  ['sqlserver', '2025-10-10 13:55:36.12 spid7s a', undefined],
  [
    'iis',
    '10.1.2.3, -, 13.10.2025, 9:55:36, W3SVC1, WEB1, 10.0.0.5, 15, 200, 612, 404, 2, GET, /a, -,',
    'client=10.1.2.3|user=-|date=13.10.2025|time=9:55:36|service=W3SVC1|server=WEB1|server_ip=10.0.0.5|duration_ms=15|received_bytes=200|bytes=612|status=404|windows_status=2|method=GET|uri=/a|parameters=-',
  ],
  ['redis', '[31] 10 Oct 13:55:36.123 # a', 'pid=31|time=10 Oct 13:55:36.123|level=#|message=a'],
  ['redis', '31:S 10 Oct 13:55:36.123 * a', 'pid=31|role=S|time=10 Oct 13:55:36.123|level=*|message=a'],
  [
    'log4j',
    '2025-10-10 13:55:36,123 INFO [org.example.Cart] - a',
    'time=2025-10-10 13:55:36,123|level=INFO|logger=org.example.Cart|message=a',
  ],
  ['log4j', '2025-10-10 13:55:36,123 INFO [main] - a', undefined],
  [
    'leveled',
    '[2025-10-10 13:55:36.123][shop::cart][ERROR] a',
    'time=2025-10-10 13:55:36.123|logger=shop::cart|level=ERROR|message=a',
  ],
  ['leveled', `${at}.123Z [warn][API]: a`, `time=${at}.123Z|level=warn|logger=API|message=a`],
  ['leveled', `${at}Z [AUTH] WARN: a`, `time=${at}Z|context=AUTH|level=WARN|message=a`],
  ['leveled', `[notice] ${at}.1Z a@b c`, `level=notice|time=${at}.1Z|message=a@b c`],
  ['leveled', `ERROR    ${at} - a`, `level=ERROR|time=${at}|message=a`],
  ['leveled', `ERROR: [2025/10/10 13:55:36] a`, `level=ERROR|time=2025/10/10 13:55:36|message=a`],
  ['leveled', `ERRORS ${at} a`, undefined],
  ['uvicorn', 'NOTE:     a', undefined],
  [
    'named',
    '10-Oct-2025 13:55:36.123 debug 3: client 10.1.2.3#5: a',
    'time=10-Oct-2025 13:55:36.123|level=debug 3|client=10.1.2.3|client_port=5|message=a',
  ],
  [
    'named',
    '10-Oct-2025 13:55:36 lame-servers: error: ',
    'time=10-Oct-2025 13:55:36|category=lame-servers|level=error|message=',
  ],
  ['named', '10-Oct-2025 13:55:36 general: fatal: a', undefined],
  [
    'klog',
    'I20251010 13:55:36.678901 7 a.go:1] ',
    'level=I|time=20251010 13:55:36.678901|thread=7|source=a.go:1|message=',
  ],
  ['klog', 'I202510 13:55:36.678901 7 a.go:1] a', undefined],
  [
    'openvpn',
    '2025-10-10 13:55:36 [fe80::1]:1194 a',
    'time=2025-10-10 13:55:36|client=[fe80::1]|client_port=1194|message=a',
  ],
  ['openvpn', '2025-10-10 13:55:36 us=7 a', 'time=2025-10-10 13:55:36|us=7|message=a'],
  [
    'exim',
    '2025-10-10 13:55:36.123 +0200 [31] 1v7Abc-00000001Zz9-2kab ** a@b R=x: y',
    'time=2025-10-10 13:55:36.123 +0200|pid=31|id=1v7Abc-00000001Zz9-2kab|flag=**|address=a@b|message=R=x: y',
  ],
  [
    'exim',
    '2025-10-10 13:55:36 1v7Abc-0001Zz-2k == a@b',
    'time=2025-10-10 13:55:36|id=1v7Abc-0001Zz-2k|flag===|address=a@b',
  ],
])('a line of %s: %j', (format, line, groups) => {
  expect(groupsIn(format, line)).toBe(groups);
});

const named = '10-Oct-2025 13:55:36';

test.each([
  ['jvm', '[1.234s][LEVEL][gc] a', 'trace debug info warning error'],
  ['jvm', `[${at}.123+0000][LEVEL  ][gc ] a`, 'trace debug info warning error'],
  ['dotnet', 'LEVEL: A[0] a', 'trce dbug info warn fail crit'],
  ['tracing', `${at}.123456Z LEVEL a::b: x`, 'TRACE DEBUG INFO WARN ERROR'],
  ['tracing', `[${at}Z LEVEL  a] x`, 'TRACE DEBUG INFO WARN ERROR'],
  ['php', `[${named}] LEVEL: [pool www] a`, 'DEBUG NOTICE WARNING ERROR ALERT'],
  ['uvicorn', 'LEVEL:    a', 'TRACE DEBUG INFO WARNING ERROR CRITICAL'],
  ['named', `${named} LEVEL: a`, 'info notice warning error critical'],
])('a line of %s has each of its levels: %s', (format, line, levels) => {
  for (const level of levels.split(' '))
    expect(groupsIn(format, line.replace('LEVEL', level))).toContain(
      `|level=${level}|`.slice(line.startsWith('LEVEL') ? 1 : 0),
    );
});

test.each([
  ['weblogic', '####<a> <b> <c> <d> <e> <f> <g> <h> <i> <7> <j> <k>'],
  ['named', `${named}.123 a-b: info: client @0x7f 10.1.2.3#49 (x): a`],
  ['squid', '1760104536.123    145 10.1.2.3 TCP_MISS/200 5120 GET / ann DIRECT/a b'],
  [
    'uwsgi',
    '[pid: 3|app: 0|req: 1/1] c () {4 vars in 7 bytes} [x] GET / => generated 6 bytes in 3 msecs (HTTP/1.1 200) 2',
  ],
  ['jvm', `[${at}.123+0000][1.2s][31][info][gc] GC(7) a`],
  ['tomcat', `${named}.123 INFO [main] a a`],
  ['nest', '[Nest] 31  - 10/13/2025, 1:55:36 PM   ERROR [Carts] a'],
  ['redis', '31:M 10 Oct 2025 13:55:36.123 * a'],
])('a line of %s without one of its signs has another shape or none', (format, line) => {
  const whole = groupsIn(format, line);
  expect(whole).toBeDefined();
  const signs = [...line.matchAll(/[[\](){}<>|#@:/]/g)].map(({ index }) => index);
  for (const sign of signs)
    expect(groupsIn(format, line.slice(0, sign) + line.slice(sign + 1)), `without ${sign}`).not.toBe(whole);
  expect(groupsIn(format, `~${line}`)).toBeUndefined();
});
