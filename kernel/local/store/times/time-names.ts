/** Names of time fields, likeliest first; compared ignoring case, `_`, `-`, `@`, and the `#` before names in a comment. */
const timeNames = [
  // Docker, with more digits than its `time`.
  'timeNano',
  '_time',
  'timestamp',
  'ts',
  'datetime',
  'eventTime',
  'event_timestamp',
  'date',
  'time_local',
  'time_iso8601',
  'timeGenerated',
  'createdAt',
  'created',
  'startTime',
  'start_timestamp',
  'logged_at',
  'observedTimestamp',
  'published',
  't',
  'timeCreated',
  'dateAndTime',
  'systemTime',
  'utcTime',
  'realtimeTimestamp',
  'asctime',
  'logTime',
  'logTimestamp',
  'logDate',
  'timestampUtc',
  'timestampMs',
  'timestampNs',
  'timeUnixNano',
  'observedTimeUnixNano',
  'startTimeUnixNano',
  'unixTimestamp',
  'unixTime',
  'calendarTime',
  'epoch',
  'epochMs',
  'requestReceivedTimestamp',
  'stageTimestamp',
  'receiveTimestamp',
  'timeReported',
  'receivedAt',
  'recordedAt',
  'occurredAt',
  'eventDate',
  'creationTime',
  'requestTime',
  'createdDateTime',
  'activityDateTime',
  'eventDateTime',
  'creationDate',
  'createdDate',
  'detectedAt',
  'detectionTime',
  'serverTimestamp',
  't.$date',
  'edgeStartTimestamp',
  'startedAt',
  // Alertmanager, HTTP archives, Route 53, Sentry, Slack, Cloudflare Workers, Akamai, nginx, Traefik, AWS Config, Better Stack,
  // CrowdStrike, Carbon Black, Proofpoint, OpenAI, Snowflake, DocuSign.
  'startsAt',
  'startedDateTime',
  'queryTimestamp',
  'dateCreated',
  'dateCreate',
  'eventTimestampMs',
  'reqTimeSec',
  'msec',
  'startUtc',
  'startLocal',
  'configurationItemCaptureTime',
  'dt',
  'eventCreationTime',
  'detectionTimestamp',
  'messageTime',
  'effectiveAt',
  'createdOn',
  'generatedDateTime',
  // Kubernetes.
  'lastTimestamp',
  'deprecatedLastTimestamp',
  'firstTimestamp',
  'deprecatedFirstTimestamp',
  // German, Spanish, Italian and Portuguese, French, Polish, Russian, Japanese and Chinese.
  'zeitstempel',
  'datum',
  'zeit',
  'fecha',
  'fechaHora',
  'data',
  'dataOra',
  'dataHora',
  'horodatage',
  'czas',
  'дата',
  'время',
  '日時',
  '日付',
  '年月日',
  '时间',
  '日期',
  // Kubernetes events whose other times are null.
  'metadata.creationTimestamp',
].map(plainName);

/** Number of leading names that mean the time of an event and hardly anything else. */
export const likelyNames = timeNames.indexOf('date');

/** Returns the rank of a field among the time names, 0 for the likeliest; -1 for any other name. */
export function timeRank(name: string): number {
  return timeNames.indexOf(plainName(name));
}

/** Returns the last segment of a dotted name. */
export function lastName(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

/** Returns a name normalized for comparison. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/[_\-@# ]/g, '');
}
