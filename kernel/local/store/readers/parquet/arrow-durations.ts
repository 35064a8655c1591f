import { Duration } from 'apache-arrow/fb/duration';
import type { Field } from 'apache-arrow/fb/field';
import { Message } from 'apache-arrow/fb/message';
import { Schema } from 'apache-arrow/fb/schema';
import { TimeUnit } from 'apache-arrow/fb/time-unit';
import { Type } from 'apache-arrow/fb/type';
import { ByteBuffer } from 'flatbuffers';
import type { ArrowDuration } from './parquet-durations.js';

const units = {
  [TimeUnit.SECOND]: 'seconds',
  [TimeUnit.MILLISECOND]: 'milliseconds',
  [TimeUnit.MICROSECOND]: 'microseconds',
  [TimeUnit.NANOSECOND]: 'nanoseconds',
} as const satisfies Readonly<Record<TimeUnit, ArrowDuration['unit']>>;

/**
 * Returns the durations of an Arrow schema, given as its message in Base64. Reads it member by member, as a schema may contain types
 * unknown to the Arrow library.
 */
export function durationsOf(base64: string): readonly ArrowDuration[] {
  const message = Buffer.from(base64, 'base64');
  // Older writers put only the length before the message, newer ones also a marker.
  const start = message.readUInt32LE(0) === 0xffffffff ? 8 : 4;
  const schema = Message.getRootAsMessage(new ByteBuffer(message.subarray(start))).header(new Schema());
  if (schema === null) return [];
  return children(schema.fieldsLength(), index => schema.fields(index)).flatMap(field =>
    durationsIn(field, []),
  );
}

function durationsIn(field: Field, above: readonly string[]): readonly ArrowDuration[] {
  const path = [...above, field.name() ?? ''];
  if (field.typeType() === Type.Duration) return [{ path, unit: units[unitOf(field.type(new Duration()))] }];
  return children(field.childrenLength(), index => field.children(index)).flatMap(child =>
    durationsIn(child, path),
  );
}

function children(count: number, at: (index: number) => Field | null): readonly Field[] {
  return Array.from({ length: count }, (_, index) => at(index) ?? []).flat();
}

function unitOf(duration: Duration | null): TimeUnit {
  return duration?.unit() ?? TimeUnit.MILLISECOND;
}
