import { textLines } from './text-lines.js';

/**
 * Yields the documents of a request in the Elasticsearch bulk format, each with the members of the line above added at its start, as
 * written by `tshark -T ek` and tools that copy an index. Any other line is unchanged.
 */
export async function* bulkDocuments(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let action: string | undefined;
  for await (const line of textLines(chunks)) {
    const members = actionLine.exec(line)?.[1];
    if (action !== undefined && (members !== undefined || !line.startsWith('{'))) yield action;
    if (members !== undefined) action = line;
    else if (line.trim() !== '') {
      yield action !== undefined && line.startsWith('{') ? withMembers(line, action) : line;
      action = undefined;
    }
  }
  if (action !== undefined) yield action;
}

/** Action for the document below it. */
const actionLine = /^\s*\{\s*"(?:index|create|update)"\s*:\s*\{([^{}]*)\}\s*\}\s*$/;

function withMembers(document: string, action: string): string {
  const members = (actionLine.exec(action)?.[1] ?? '').trim();
  const own = document.slice(1).trimStart();
  const between = members === '' || own.startsWith('}') ? '' : ',';
  return `{${members}${between}${own}`;
}
