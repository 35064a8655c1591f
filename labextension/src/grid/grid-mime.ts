/** The registered type of an Arrow IPC stream: https://www.iana.org/assignments/media-types/application/vnd.apache.arrow.stream */
export const ARROW_MIME = 'application/vnd.apache.arrow.stream';
