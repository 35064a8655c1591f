/**
 * Patterns for `%{NAME:field}`, as in Logstash, but without look-around, which RE2 lacks
 * (https://github.com/logstash-plugins/logstash-patterns-core/tree/main/patterns).
 */
const library: Readonly<Record<string, string>> = {
  USERNAME: '[a-zA-Z0-9._-]+',
  USER: '%{USERNAME}',
  EMAILLOCALPART: "[a-zA-Z0-9!#$%&'*+/=?^_`{|}~.-]+",
  EMAILADDRESS: '%{EMAILLOCALPART}@%{HOSTNAME}',
  INT: '[+-]?\\d+',
  BASE10NUM: '[+-]?(?:\\d+(?:\\.\\d+)?|\\.\\d+)',
  NUMBER: '%{BASE10NUM}',
  BASE16NUM: '[+-]?(?:0x)?[0-9A-Fa-f]+',
  POSINT: '[1-9]\\d*',
  NONNEGINT: '\\d+',
  WORD: '\\b\\w+\\b',
  NOTSPACE: '\\S+',
  SPACE: '\\s*',
  DATA: '.*?',
  GREEDYDATA: '.*',
  QUOTEDSTRING: '(?:"(?:[^"\\\\]|\\\\.)*"|\'(?:[^\'\\\\]|\\\\.)*\'|`(?:[^`\\\\]|\\\\.)*`)',
  QS: '%{QUOTEDSTRING}',
  UUID: '[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}',
  MAC: '(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}',
  IPV4: '(?:\\d{1,3}\\.){3}\\d{1,3}',
  IPV6: '[0-9A-Fa-f]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(?:%\\w+)?',
  IP: '(?:%{IPV6}|%{IPV4})',
  HOSTNAME: '[0-9A-Za-z][0-9A-Za-z-]*(?:\\.[0-9A-Za-z][0-9A-Za-z-]*)*\\.?',
  HOST: '%{HOSTNAME}',
  IPORHOST: '(?:%{IP}|%{HOSTNAME})',
  HOSTPORT: '%{IPORHOST}:%{POSINT}',
  UNIXPATH: '(?:/[\\w_%!$@:.,+~-]*)+',
  WINPATH: '(?:[A-Za-z]+:|\\\\)(?:\\\\[^\\\\?*]*)+',
  PATH: '(?:%{UNIXPATH}|%{WINPATH})',
  URIPROTO: '[A-Za-z][A-Za-z0-9+.-]*',
  URIHOST: '%{IPORHOST}(?::%{POSINT})?',
  URIPATH: "(?:/[A-Za-z0-9$.+!*'(){},~:;=@#%&_-]*)+",
  URIPARAM: "\\?[A-Za-z0-9$.+!*'|(){},~@#%&/=:;_?\\[\\]<>-]*",
  URIPATHPARAM: '%{URIPATH}(?:%{URIPARAM})?',
  URI: '%{URIPROTO}://(?:%{USER}(?::[^@]*)?@)?(?:%{URIHOST})?(?:%{URIPATHPARAM})?',
  MONTH:
    '(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:tember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)',
  MONTHNUM: '(?:0?[1-9]|1[0-2])',
  MONTHNUM2: '(?:0[1-9]|1[0-2])',
  MONTHDAY: '(?:0[1-9]|[12]\\d|3[01]|[1-9])',
  DAY: '(?:Mon(?:day)?|Tue(?:sday)?|Wed(?:nesday)?|Thu(?:rsday)?|Fri(?:day)?|Sat(?:urday)?|Sun(?:day)?)',
  YEAR: '\\d{2,4}',
  HOUR: '(?:2[0123]|[01]?\\d)',
  MINUTE: '[0-5]\\d',
  SECOND: '(?:[0-5]?\\d|60)(?:[:.,]\\d+)?',
  TIME: '%{HOUR}:%{MINUTE}(?::%{SECOND})?',
  DATE_US: '%{MONTHNUM}[/-]%{MONTHDAY}[/-]%{YEAR}',
  DATE_EU: '%{MONTHDAY}[./-]%{MONTHNUM}[./-]%{YEAR}',
  DATE: '(?:%{DATE_US}|%{DATE_EU})',
  TZ: '[A-Z]{3,4}',
  ISO8601_TIMEZONE: '(?:Z|[+-]%{HOUR}(?::?%{MINUTE})?)',
  TIMESTAMP_ISO8601:
    '\\d{4}-%{MONTHNUM}-%{MONTHDAY}[T ]%{HOUR}:?%{MINUTE}(?::?%{SECOND})?(?:%{ISO8601_TIMEZONE})?',
  DATESTAMP: '%{DATE}[- ]%{TIME}',
  SYSLOGTIMESTAMP: '%{MONTH} +%{MONTHDAY} %{TIME}',
  HTTPDATE: '%{MONTHDAY}/%{MONTH}/%{YEAR}:%{TIME} %{INT}',
  PROG: '[\\x21-\\x5a\\x5c\\x5e-\\x7e]+',
  SYSLOGPROG: '%{PROG:program}(?:\\[%{POSINT:pid}\\])?',
  SYSLOGHOST: '%{IPORHOST}',
  LOGLEVEL:
    '(?:[Aa]lert|ALERT|[Tt]race|TRACE|[Dd]ebug|DEBUG|[Nn]otice|NOTICE|[Ii]nfo(?:rmation)?|INFO(?:RMATION)?|[Ww]arn(?:ing)?|WARN(?:ING)?|[Ee]rr(?:or)?|ERR(?:OR)?|[Cc]rit(?:ical)?|CRIT(?:ICAL)?|[Ff]atal|FATAL|[Ss]evere|SEVERE|[Ee]merg(?:ency)?|EMERG(?:ENCY)?)',
  COMMONAPACHELOG:
    '%{IPORHOST:clientip} %{NOTSPACE:ident} %{NOTSPACE:auth} \\[%{HTTPDATE:timestamp}\\] "(?:%{WORD:verb} %{NOTSPACE:request}(?: HTTP/%{NUMBER:httpversion})?|%{DATA:rawrequest})" (?:-|%{NUMBER:response}) (?:-|%{NUMBER:bytes})',
  COMBINEDAPACHELOG: '%{COMMONAPACHELOG} %{QS:referrer} %{QS:agent}',
};

/** What is wrong with a pattern, and a hint. */
export interface PatternError {
  readonly problem: string;
  readonly hint: string;
}

/** Returns a regular expression with a named group for each field: expands `%{NAME:field}` and makes unnamed groups non-capturing. */
export function expandPattern(text: string): string | PatternError {
  const expanded = expand(text);
  if (typeof expanded !== 'string') return expanded;
  const names = [...expanded.matchAll(/\(\?<([^>]*)>/g)].map(([, name = '']) => name);
  if (names.length === 0)
    return {
      problem: 'names no field',
      hint: 'A field is %{NAME:field}, such as %{IP:client}, or a group such as (?<client>\\S+).',
    };
  const odd = names.find(name => !/^[\w.@-]+$/.test(name));
  if (odd !== undefined)
    return {
      problem: `has a field ${JSON.stringify(odd)}`,
      hint: 'A name has letters, digits, _, ., @ and -.',
    };
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined) return { problem: `names ${twice} twice`, hint: 'A field has one place.' };
  return expanded;
}

function expand(text: string): string | PatternError {
  const nameless = text.replace(/\(\?P</g, '(?<');
  const unknown = [...nameless.matchAll(reference)].find(([, name = '']) => !Object.hasOwn(library, name));
  if (unknown !== undefined)
    return {
      problem: `names the pattern ${unknown[1]}, which there is not`,
      hint: `The patterns are ${Object.keys(library).join(', ')}.`,
    };
  return withoutPlainGroups(resolve(nameless));
}

/** `%{NAME}`, `%{NAME:field}` or `%{NAME:field:type}`; the type is ignored and detected from the values. */
const reference = /%\{(\w+)(?::([^:}]+))?(?::\w+)?\}/g;

function resolve(text: string): string {
  return text.replace(reference, (_, name: string, field?: string) => {
    const pattern = resolve(library[name] ?? '');
    return field === undefined
      ? `(?:${pattern})`
      : `(?<${field.replace(/^\[(.*)\]$/, '$1').replaceAll('][', '.')}>${pattern})`;
  });
}

/** Makes unnamed groups non-capturing, as they would be counted as fields. */
function withoutPlainGroups(pattern: string): string {
  return pattern.replace(/\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\w+:\]|[^\]\\])*\]|\((?!\?)/g, part =>
    part === '(' ? '(?:' : part,
  );
}
