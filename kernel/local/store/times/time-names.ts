/** Names that hold the time of an event, the likeliest first; compared without case, `_`, `-`, `@` and the `#` before names in a comment. */
const timeNames = [
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
  // Kubernetes: of an event whose other times are null.
  'metadata.creationTimestamp',
].map(plainName);

/** How many of the first names stand for the time of an event and hardly for anything else. */
export const likelyNames = timeNames.indexOf('date');

/** The rank of a field among the names that speak of a time, 0 for the likeliest; -1 for any other name. */
export function timeRank(name: string): number {
  return timeNames.indexOf(plainName(name));
}

/** Returns the last part of a name with dots. */
export function lastName(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

/** Returns a name as it is compared with others. */
export function plainName(name: string): string {
  return name.toLowerCase().replace(/[_\-@# ]/g, '');
}
