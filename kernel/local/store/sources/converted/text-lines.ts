/**
 * Yields the lines of a UTF-8 text, ending in LF or CRLF. `readline` of Node.js 24 also splits at U+2028, which may be unescaped in JSON
 * strings.
 */
export async function* textLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest: string[] = [];
  for await (const chunk of chunks) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n');
    rest.push(first);
    const last = others.pop();
    if (last === undefined) continue;
    for (const line of [rest.join(''), ...others]) yield withoutReturn(line);
    rest = [last];
  }
  const line = rest.join('') + decoder.decode();
  if (line !== '') yield withoutReturn(line);
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
