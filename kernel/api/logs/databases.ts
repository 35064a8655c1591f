import { type LogFormat, part } from './log-format.js';

const { iso, all } = part;

const stamp =
  '\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}(?:\\.\\d{1,6})? (?:[A-Z]{2,5}|[+-]\\d{2}(?::?\\d{2})?)';
/** The address of a PostgreSQL client. */
const host = '(?:[\\d.]+|[\\da-f]*:[\\da-f:.]+|\\[local\\])';
/** In MariaDB a one-digit hour has a blank before it. */
const mariadb = `(?:${iso}|\\d{4}-\\d{2}-\\d{2}  \\d:\\d{2}:\\d{2})`;
const severity =
  '(?:DEBUG[1-5]?|INFO|NOTICE|WARNING|ERROR|LOG|FATAL|PANIC|DETAIL|HINT|QUERY|CONTEXT|LOCATION|STATEMENT)';

/** Beginnings of tables printed by psql, mysql, sqlite3 or sqlcmd: column names above a line of dashes. */
const printedTable = [
  '[^\\n]*\\|[^\\n]*\\n-+(?:\\+-+)+\\s*\\n',
  '\\+(?:[-=]+\\+)+\\s*\\n\\|[^\\n]*\\|\\s*\\n\\+(?:[-=]+\\+)+\\s*\\n',
  '[┌╭][─═┬]+[┐╮]\\s*\\n│[^\\n]*│\\s*\\n[├╞][─═┼╪]+[┤╡]\\s*\\n',
  '\\|[^\\n]*\\|\\s*\\n\\|(?:[ \\t]*:?-+:?[ \\t]*\\|)+\\s*\\n',
  '[^\\n]+\\n-+(?: +-+)+\\s*\\n',
];

/** Databases and queues. */
export const databases: readonly LogFormat[] = [
  {
    name: 'postgres',
    label: 'PostgreSQL log lines',
    example: [
      '2025-10-10 13:55:36.123 UTC [31] ann@shop ERROR:  relation "carts" does not exist at character 15',
      '2025-10-10 13:55:36.123 UTC [31] ann@shop STATEMENT:  SELECT *',
      '\tFROM carts',
    ],
    reading: {
      kind: 'lines',
      begins: { line: `^(?:[\\d.]+ |[\\da-f:]+ )?${stamp}` },
      // https://www.postgresql.org/docs/current/runtime-config-logging.html#GUC-LOG-LINE-PREFIX
      shapes: [
        {
          pattern: `^(?<time>${stamp})(?: \\[(?<pid>\\d+)(?:-(?<line_number>\\d+))?\\])?:?(?: (?<client>${host}))?(?: (?<user>[^\\s@]*)@(?<database>\\S*))? (?<level>${severity}): {1,2}(?<message>${all})$`,
        },
        {
          pattern: `^(?<time>${stamp}):(?<client>[^\\s(]*)(?:\\((?<client_port>\\d+)\\))?:(?<user>[^@:]*)@(?<database>[^:]*):\\[(?<pid>\\d+)\\]:(?<level>${severity}): {1,2}(?<message>${all})$`,
        },
        {
          // With a client first, as in Supabase.
          pattern: `^(?<client>${host}) (?<time>${stamp}) \\[(?<pid>\\d+)\\](?: (?<user>[^\\s@]*)@(?<database>\\S*))? (?<level>${severity}): {1,2}(?<message>${all})$`,
        },
        {
          // https://pgbadger.darold.net/documentation.html
          pattern: `^(?<time>${stamp}) \\[(?<pid>\\d+)\\]:? (?:\\[(?<line_number>\\d+)-\\d+\\] )?user=(?<user>[^,]*),db=(?<database>[^,]*)(?:,app=(?<application>[^,]*))?(?:,client=(?<client>[^,\\s]*))? (?<level>${severity}): {1,2}(?<message>${all})$`,
        },
        {
          pattern: `^(?<time>${stamp}) \\[(?<pid>\\d+)\\]:? (?:\\[(?<line_number>\\d+)-\\d+\\] )?db=(?<database>[^,]*),user=(?<user>[^,\\s]*)(?:,app=(?<application>[^,]*))?(?:,client=(?<client>[^,\\s]*))? (?<level>${severity}): {1,2}(?<message>${all})$`,
        },
      ].map(shape => ({ ...shape, optional: ['client', 'client_port', 'application', 'line_number'] })),
    },
  },
  {
    name: 'postgres-csv',
    label: 'PostgreSQL log lines in CSV (csvlog)',
    example: [
      '2025-10-10 13:55:36.123 UTC,"ann","shop",31,"10.1.2.3:50112",68e90f.1f,1,"SELECT",2025-10-10 13:50:00 UTC,3/12,0,ERROR,42P01,"relation ""carts"" does not exist",,,,,,"SELECT *',
      'FROM carts",15,,"psql","client backend",,0',
    ],
    reading: {
      kind: 'csv',
      begins: `^${stamp},(?:"[^"]*")?,(?:"[^"]*")?,\\d+,`,
      // https://www.postgresql.org/docs/current/runtime-config-logging.html#RUNTIME-CONFIG-LOGGING-CSVLOG
      fields: [
        'log_time',
        'user_name',
        'database_name',
        'process_id',
        'connection_from',
        'session_id',
        'session_line_num',
        'command_tag',
        'session_start_time',
        'virtual_transaction_id',
        'transaction_id',
        'error_severity',
        'sql_state_code',
        'message',
        'detail',
        'hint',
        'internal_query',
        'internal_query_pos',
        'context',
        'query',
        'query_pos',
        'location',
        'application_name',
        'backend_type',
        'leader_pid',
        'query_id',
      ],
    },
  },
  {
    name: 'mysql-error',
    label: 'MySQL or MariaDB error log lines',
    example: [
      '2025-10-10T13:55:36.123456Z 0 [System] [MY-010116] [Server] /usr/sbin/mysqld (mysqld 8.0.36) starting as process 1',
      '2025-10-10 13:55:37 0 [Note] InnoDB: Buffer pool(s) load completed',
    ],
    reading: {
      kind: 'lines',
      begins: { line: `^${mariadb} +\\d+ \\[` },
      shapes: [
        {
          pattern: `^(?<time>${mariadb}) +(?<thread>\\d+) \\[(?<level>[A-Za-z]+)\\](?: \\[(?<code>MY-\\d+)\\] \\[(?<subsystem>\\w+)\\])? (?<message>${all})$`,
        },
        {
          // Before 5.6, and output of the startup scripts.
          pattern: `^(?<time>\\d{6} [ \\d]\\d:\\d{2}:\\d{2}|${mariadb}) (?:\\[(?<level>[A-Za-z]+)\\] )?(?<message>${all})$`,
          loose: true,
        },
      ],
    },
  },
  {
    name: 'mysql-slow',
    label: 'the MySQL or MariaDB slow query log',
    example: [
      '# Time: 2025-10-10T13:55:36.123456Z',
      '# User@Host: ann[ann] @ web1 [10.1.2.3]  Id:     8',
      '# Query_time: 2.000123  Lock_time: 0.000010 Rows_sent: 1  Rows_examined: 48213',
      'SET timestamp=1760104534;',
      'SELECT count(*)',
      'FROM carts;',
    ],
    reading: {
      kind: 'lines',
      // Only the first of several events in the same second may have a timestamp.
      begins: { line: '^# (?:Time|User@Host): ', unless: '^# Time: ' },
      // https://dev.mysql.com/doc/refman/8.4/en/slow-query-log.html
      shapes: [
        {
          pattern: `^(?:# Time: (?<time>[^\\n]+)\\n)?# User@Host: (?<user>[^\\s\\[]*)\\[(?<account>[^\\]]*)\\] @ +(?<host>[^\\s\\[]*) *\\[(?<client>[^\\]]*)\\](?: +Id: +(?<id>\\d+))?\\n(?<session>(?:# [^Q\\n][^\\n]*\\n)*)# Query_time: (?<query_time>[\\d.]+) +Lock_time: (?<lock_time>[\\d.]+) +Rows_sent: (?<rows_sent>\\d+) +Rows_examined: (?<rows_examined>\\d+) *(?<counts>[^\\n]*\\n(?:#[^\\n]*\\n)*)(?:use (?<database>[^;\\n]+);\\n)?(?:SET timestamp=(?<started>\\d+);\\n)?(?<query>${all})$`,
          optional: ['session', 'counts'],
        },
      ],
    },
  },
  {
    name: 'mysql-general',
    label: 'the MySQL general query log',
    example: [
      '2025-10-10T13:55:36.592691Z\t   10 Connect\tann@web1 on shop using TCP/IP',
      '2025-10-10T13:55:37.592691Z\t   10 Query\tSELECT count(*)',
      'FROM carts',
    ],
    reading: {
      kind: 'lines',
      begins: { line: `^${iso}\\t *\\d+ [A-Z]` },
      // https://dev.mysql.com/doc/refman/8.4/en/query-log.html
      shapes: [
        {
          pattern: `^(?<time>${iso})\\t *(?<thread>\\d+) (?<command>[A-Z][a-z]+(?: [A-Za-z]+)?)(?:\\t(?<message>${all}))?$`,
        },
      ],
    },
  },
  {
    name: 'mongodb-text',
    label: 'MongoDB log lines before 4.4',
    example: ['2025-10-10T13:55:36.123+0000 I NETWORK  [listener] connection accepted from 10.1.2.3:50112'],
    reading: {
      kind: 'lines',
      begins: { line: `^${iso} [DIWEF]\\d? +[A-Z-]+ +\\[` },
      shapes: [
        {
          pattern: `^(?<time>${iso}) (?<level>[DIWEF]\\d?) +(?<component>[A-Z]+|-) +\\[(?<context>[^\\]]*)\\] ?(?<message>${all})$`,
        },
      ],
      absent: { text: '-', fields: ['component'] },
    },
  },
  {
    name: 'sqlserver',
    label: 'SQL Server error log lines',
    example: [
      '2025-10-10 13:55:36.12 Logon       Error: 18456, Severity: 14, State: 8.',
      "2025-10-10 13:55:36.12 spid51      Starting up database 'shop'.",
    ],
    reading: {
      kind: 'lines',
      begins: { line: `^${iso} [A-Za-z]\\w+ {2,}` },
      shapes: [
        {
          pattern: `^(?<time>\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}\\.\\d{2}) (?<process>(?:spid\\d+s?|Logon|Server|Backup))  +(?<message>${all})$`,
        },
      ],
    },
  },
  {
    name: 'redis',
    label: 'Redis log lines',
    example: ['31:M 10 Oct 2025 13:55:36.123 * Ready to accept connections tcp'],
    reading: {
      kind: 'lines',
      shapes: [
        {
          pattern:
            '^(?<pid>\\d+):(?<role>[XCSM]) (?<time>\\d{2} [A-Z][a-z]{2} (?:\\d{4} )?\\d{2}:\\d{2}:\\d{2}\\.\\d{3}) (?<level>[.*#-]) (?<message>.*)$',
        },
        {
          // Before 3.0.
          pattern:
            '^\\[(?<pid>\\d+)\\] (?<time>\\d{2} [A-Z][a-z]{2} \\d{2}:\\d{2}:\\d{2}\\.\\d{3}) (?<level>[.*#-]) (?<message>.*)$',
        },
      ],
    },
  },
  {
    name: 'kafka',
    label: 'Kafka log lines',
    example: [
      '[2025-10-10 13:55:36,123] ERROR [ReplicaManager broker=1] Error on fetch (kafka.server.ReplicaManager)',
      'java.io.IOException: disk full',
      '\tat kafka.log.Log.append(Log.scala:1)',
    ],
    reading: {
      kind: 'lines',
      begins: { line: `^\\[${iso}\\] ` },
      shapes: [
        {
          pattern: `^\\[(?<time>${iso})\\] (?<level>TRACE|DEBUG|INFO|WARN|ERROR|FATAL) (?<message>.*?)(?: \\((?<logger>[\\w.$]+)\\))?${part.stack}$`,
        },
      ],
    },
  },
  {
    name: 'rabbitmq',
    label: 'RabbitMQ log lines',
    example: [
      '2025-10-10 13:55:36.123456+00:00 [info] <0.684.0> accepting AMQP connection <0.684.0> (10.1.2.3:50112 -> 10.0.0.7:5672)',
    ],
    reading: {
      kind: 'lines',
      begins: { line: `^${iso} \\[[a-z]+\\] ` },
      shapes: [
        { pattern: `^(?<time>${iso}) \\[(?<level>[a-z]+)\\] (?<process><[\\d.]+>) (?<message>${all})$` },
      ],
    },
  },
  {
    name: 'table',
    label: 'table rows as printed by a database client',
    example: [
      ' id |        created         |     note',
      '----+------------------------+---------------',
      '  7 | 2025-10-10 13:55:36+00 | cart is ready',
      '(1 row)',
    ],
    reading: {
      kind: 'converted',
      begins: `^(?:[ \\t]*\\r?\\n)*(?:${printedTable.join('|')})`,
      as: 'tables',
      to: 'csv',
    },
  },
  {
    name: 'records',
    label: 'rows as printed by a database client, one line per value',
    example: [
      '*************************** 1. row ***************************',
      '     id: 7',
      'created: 2025-10-10 13:55:36',
      '   note: cart is ready',
    ],
    reading: {
      kind: 'converted',
      begins: '^(?:[ \\t]*\\r?\\n)*(?:-\\[ RECORD 1 \\][-+]*|\\*+ 1\\. row \\*+)\\r?\\n',
      as: 'records',
      to: 'csv',
    },
  },
];
