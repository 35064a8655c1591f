import { expect, test } from 'vitest';
import { groupsIn } from './groups.js';

// ---- lines of hosts, and of newer and older versions of formats ----

const at = '2025-10-10T13:55:36';

test.each([
  [
    'wrapper',
    'INFO   | jvm 1    | 2025/10/10 13:55:36 | ',
    'level=INFO|process=jvm 1|time=2025/10/10 13:55:36|message=',
  ],
  ['wrapper', 'INFO   | jvm x    | 2025/10/10 13:55:36 | a', undefined],
  ['wrapper', 'info   | jvm 1    | 2025/10/10 13:55:36 | a', undefined],
  [
    'nginx-proxy-manager',
    '[x] - - 200 - GET http h "/a\\"b" [Client ] [Length -] [Gzip -] [Sent-to s] "u" "r"',
    undefined,
  ],
  [
    'nginx-proxy-manager',
    '[10/Oct/2025:13:55:36 +0000] HIT - 200 - GET http h "/a\\"b" [Client ::1] [Length -] [Gzip -] "u" "r"',
    'time=10/Oct/2025:13:55:36 +0000|cache=HIT|upstream_status=-|status=200|method=GET|scheme=http|host=h|uri=/a\\"b|client=::1|bytes=-|gzip=-|user_agent=u|referer=r',
  ],
  [
    'combined',
    'c -  -  [10/Oct/2025:13:55:36 +0000] "-" 408',
    'client=c|ident=-|user=-|time=10/Oct/2025:13:55:36 +0000|request=-|status=408',
  ],
  [
    'combined',
    'c - - [10/Oct/2025 13:55:36] "-" 408 -',
    'client=c|ident=-|user=-|time=10/Oct/2025 13:55:36|request=-|status=408|bytes=-',
  ],
  [
    'alb',
    'http 2016-08-10T22:08:42.945958Z app/a 10.1.2.3:2817 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET / HTTP/1.1" "curl" - - arn "Root=1" shop.example -',
    'type=http|time=2016-08-10T22:08:42.945958Z|elb=app/a|client=10.1.2.3|client_port=2817|target=10.0.0.1:80|request_processing_time=0.000|target_processing_time=0.001|response_processing_time=0.000|status=200|target_status=200|received_bytes=34|sent_bytes=366|request=GET / HTTP/1.1|user_agent=curl|ssl_cipher=-|ssl_protocol=-|target_group=arn|trace_id=Root=1|domain_name=shop.example|certificate=-',
  ],
  [
    'log4j',
    `${at},123 [myid:] - INFO  [main[a=3]:x@7] - b`,
    `time=${at},123|myid=|level=INFO|thread=main[a=3]:x@7|message=b`,
  ],
  [
    'logcat',
    '10-10 13:55:36.123  root  17 23 W a: b',
    'time=10-10 13:55:36.123|uid=root|pid=17|tid=23|level=W|tag=a|message=b',
  ],
  [
    'asterisk',
    '[Oct 10 13:55:36] SECURITY[77] res_security_log.c: a',
    'time=Oct 10 13:55:36|level=SECURITY|thread=77|source=res_security_log.c|message=a',
  ],
  [
    'postgres',
    '2025-10-10 13:55:36 CET [31]: db=shop,user=ann,app=psql,client=[local] LOG:  a',
    'time=2025-10-10 13:55:36 CET|pid=31|database=shop|user=ann|application=psql|client=[local]|level=LOG|message=a',
  ],
  [
    'postgres',
    '2025-10-10 13:55:36 UTC [31] user=ann,db=shop LOG:  a',
    'time=2025-10-10 13:55:36 UTC|pid=31|user=ann|database=shop|level=LOG|message=a',
  ],
  ['mysql-general', `${at}.1Z\t   10 Init DB\tshop`, `time=${at}.1Z|thread=10|command=Init DB|message=shop`],
  ['mysql-general', `${at}.1Z\t   10 Quit`, `time=${at}.1Z|thread=10|command=Quit`],
  ['mysql-general', `${at}.1Z\t   10 Close stmt\t`, `time=${at}.1Z|thread=10|command=Close stmt|message=`],
  [
    'fortigate',
    '<189>date=2025-10-10 time=13:55:36 a=b',
    'priority=189|values=date=2025-10-10 time=13:55:36 a=b',
  ],
  ['fortigate', 'date=2025-10-10 a=b', undefined],
  [
    'cef',
    '<134>CEF:0|v|p|1|7|n|5|a=b',
    'priority=134|cef_version=0|vendor=v|product=p|product_version=1|event_class=7|name=n|severity=5|extension=a=b',
  ],
  [
    'syslog',
    'Oct 10 13:55:36 h local7.emerg a[7]: b',
    'time=Oct 10 13:55:36|host=h|facility=local7|level=emerg|program=a|pid=7|message=b',
  ],
  [
    'syslog',
    'Fri Oct 10 13:55:36 2025 daemon.info a: b',
    'time=Fri Oct 10 13:55:36 2025|facility=daemon|level=info|program=a|message=b',
  ],
  [
    'syslog',
    'Oct 10 13:55:36 h firewall,!info a',
    'time=Oct 10 13:55:36|host=h|topics=firewall,!info|message=a',
  ],
  [
    'dpkg',
    '2025-10-10 13:55:36 remove a:all 1-2 <none>',
    'time=2025-10-10 13:55:36|action=remove|package=a:all|installed=1-2|available=<none>',
  ],
  [
    'dpkg',
    '2025-10-10 13:55:36 update-alternatives: a',
    'time=2025-10-10 13:55:36|action=update-alternatives|message=a',
  ],
  ['dpkg', '2025-10-10 13:55:36 cart is lost', undefined],
  ['cups', 'I [10/Oct/2025:13:55:36 +0000] a', 'level=I|time=10/Oct/2025:13:55:36 +0000|message=a'],
  ['cups', 'Q [10/Oct/2025:13:55:36 +0000] a', undefined],
  [
    'sssd',
    '(2025-10-10  8:55:36): [be[a[b]]] [f] (0x0040): c',
    'time=2025-10-10  8:55:36|process=be[a[b]]|function=f|level=0x0040|message=c',
  ],
  ['sssd', '(2025-10-10  8:55:36): [be] [f] (40): c', undefined],
  [
    'esxi',
    `${at}Z In(14)[+] a[7]: b`,
    `time=${at}Z|level=In|code=14|continued=[+]|program=a|pid=7|message=b`,
  ],
  ['esxi', `${at}Z Xy(14) a: b`, undefined],
  ['esxi', `${at}Z info a[7F] [Originator@6876] b`, `time=${at}Z|level=info|program=a|pid=7F|message=b`],
  ['esxi', `${at}Z cpu1)b`, undefined],
  [
    'spark',
    '081109 203615 148 INFO dfs.A$B: c',
    'time=081109 203615|thread=148|level=INFO|logger=dfs.A$B|message=c',
  ],
  ['spark', '17/06/09 20:10:40 INFO two words: c', undefined],
])('matches the groups of %s in %s', (format, line, groups) => {
  expect(groupsIn(format, line)).toBe(groups);
});
