/** Returns the media type that a `Content-Type` names, in lower case and without parameters. */
export function mediaType(contentType: string): string {
  return contentType.split(';')[0]?.trim().toLowerCase() ?? '';
}

/** Whether a body is protobuf, as OTLP has it. */
export function isProtobuf(contentType: string): boolean {
  return mediaType(contentType) === 'application/x-protobuf';
}
