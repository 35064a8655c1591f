/** Tags of spans in formats earlier than OTLP: some are members of a span there. */
import type { AnyValue, KeyValue, Sourced, Span } from '../../../../otlp/otlp-protocol.js';

/**
 * Returns the scope and the members of a span that tags stand for, as in the conversions of OpenTelemetry
 * (https://opentelemetry.io/docs/specs/otel/trace/sdk_exporters/), with the remaining tags as attributes. `isError` is asked about the
 * value of `error`.
 */
export function spanOfTags(
  tags: readonly KeyValue[],
  isError: (value: AnyValue) => boolean,
): Pick<Sourced<Span>, 'scope' | 'entry'> {
  const values = new Map(tags.map(({ key = '', value = {} }) => [key, value]));
  const take = (...keys: readonly string[]) => {
    const texts = keys.map(key => values.get(key)?.stringValue);
    for (const [index, key] of keys.entries()) if (texts[index] !== undefined) values.delete(key);
    return texts.find(text => text !== undefined);
  };
  const error = values.get('error');
  const failed = error !== undefined && isError(error);
  if (error !== undefined && booleanOf(error) !== undefined) values.delete('error');
  const kind = take('span.kind');
  const code = take('otel.status_code')?.toUpperCase() ?? (failed ? 'ERROR' : 'UNSET');
  const described = take('otel.status_description');
  return {
    scope: {
      name: take('otel.scope.name', 'otel.library.name') ?? '',
      version: take('otel.scope.version', 'otel.library.version') ?? '',
    },
    entry: {
      kind: `SPAN_KIND_${kind?.toUpperCase() ?? 'UNSPECIFIED'}`,
      traceState: take('w3c.tracestate') ?? '',
      status: { code: `STATUS_CODE_${code}`, message: described ?? '' },
      attributes: [...values].map(([key, value]) => ({ key, value })),
    },
  };
}

/** Returns the boolean that a value is, also as a string; undefined for any other. */
export function booleanOf({ boolValue, stringValue }: AnyValue): boolean | undefined {
  if (boolValue !== undefined) return boolValue;
  return stringValue === 'true' || stringValue === 'false' ? stringValue === 'true' : undefined;
}

/** Returns a value as a string; undefined for a missing one, a list or an object. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
}

/** Returns microseconds as nanoseconds, 0 for any other value. A number may have a fraction. */
export function nanoseconds(microseconds: unknown): bigint {
  const [, whole, fraction = ''] = /^(\d{1,16})(?:\.(\d+))?$/.exec(textOf(microseconds) ?? '') ?? [];
  return whole === undefined ? 0n : BigInt(whole) * 1000n + BigInt(fraction.padEnd(3, '0').slice(0, 3));
}
