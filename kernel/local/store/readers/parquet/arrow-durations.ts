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
 * Returns the durations of an Arrow schema, given as Base64 of its message. It is read member by member, as a schema may name types
 * that the library of Arrow does not know.
 */
export function durationsOf(base64: string): readonly ArrowDuration[] {
  const message = Buffer.from(base64, 'base64');
  // Older writers have the length of the message only, others a mark in front of it.
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
