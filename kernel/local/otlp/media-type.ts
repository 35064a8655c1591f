/** Returns the media type of a `Content-Type` header, in lower case without parameters. */
export function mediaType(contentType: string): string {
  return contentType.split(';')[0]?.trim().toLowerCase() ?? '';
}

/** Returns whether a body is OTLP's protobuf. */
export function isProtobuf(contentType: string): boolean {
  return mediaType(contentType) === 'application/x-protobuf';
}
