import { hintForOperator } from './hint-operators.js';
import { longestStatement, translatedQuery } from './languages/recognize.js';

/** The response to a line that is not APL, and its replacement. */
export interface Habit {
  readonly message: string;
  readonly hint: string;
  readonly instead?: string;
}

interface Row {
  readonly written: RegExp;
  readonly says: (match: RegExpExecArray) => Habit;
}

/** Commands that leave a console. */
export const LEAVING = /^(?:exit|quit)(?:\(\))?$/i;

/** Lines typed for other tools. */
const habits: readonly Row[] = [
  {
    written: /^(find|evaluate|macro-expand)\s+(?:in\s*\(|withsource\s*=|where\s|["'\w](?!e\b))[\s\S]*$/,
    says: ([whole = '', word = '']) => ({
      message: `APL has no operator \`${word}\``,
      hint: (word === 'find' ? undefined : hintForOperator(word, whole)) ?? 'Write `search in (T, U) …`.',
    }),
  },
  {
    written: /^```[\w-]*[ \t]*\r?\n([\s\S]*?)\r?\n?```$/,
    says: ([, query = '']) => ({
      message: 'the query is in a Markdown code block',
      hint: 'Remove the lines with ```.',
      instead: query,
    }),
  },
  {
    written:
      /^(?:\$|>{1,3}|(?:In|Out)?\s*\[\d*\]:|[\w.@~-]+[>$%])\s*(\[['"][\s\S]*|[A-Za-z_][\w-]*\s*\|[\s\S]*)$/,
    says: ([, query = '']) => ({
      message: 'there is a prompt before the query',
      hint: 'Remove it.',
      instead: query,
    }),
  },
  {
    written:
      /^(?:let\s+|var\s+|const\s+)?((?!(?:index|source|sourcetype|host|eventtype|_source\w*|_index|_view)\b)[A-Za-z_]\w*)\s*:?=\s*(\[['"][^\]]+\]\s*(?:\|[\s\S]*)?|[A-Za-z_][\w-]*\s*\|[\s\S]*)$/,
    says: ([, name = '', query = '']) => ({
      message: 'use `<<` to keep a result',
      hint: `Write ${name} << …; \`let\` names a value for the query below it.`,
      instead: `${name} << ${query}`,
    }),
  },
  {
    written:
      /^(?:var\s+|const\s+)?((?!(?:index|source|sourcetype|host|eventtype|_source\w*|_index|_view)\b)[A-Za-z_]\w*)\s*:?=\s*(-?\d[\w.]*|"[^"]*"|'[^']*')$/,
    says: ([, name = '', value = '']) => ({
      message: 'use `let` to name a value',
      hint: `Write let ${name} = ${value}; above the query that uses it, or %param ${name}=${value} for the notebook.`,
      instead: `let ${name} = ${value};`,
    }),
  },
  {
    written:
      /^(time|import|compare|star)\s+((?:last|today|yesterday|this)\b[^|]*|[-\w./~]+\.(?:csv|tsv|json|ndjson|jsonl|log|txt|parquet|gz)|--?\w[^|]*)$/,
    says: ([, name = '', rest = '']) => ({
      message: `\`${name}\` is a magic`,
      hint: `Write %${name} ${rest}.`,
      instead: `%${name} ${rest}`,
    }),
  },
  {
    written: /^from\s+(\[['"][\s\S]*)$/i,
    says: ([, query = '']) => ({
      message: 'a query starts with its dataset, without a keyword',
      hint: 'Remove `from`.',
      instead: query,
    }),
  },
  {
    written:
      /^(?:(?:GET|POST)\s+\/|\{\s*"(?:query|size|from|aggs|bool|match|sort|_source|track_total_hits)"\s*:)/,
    says: () => ({
      message: 'this is an Elasticsearch request, not APL',
      hint: "Start with the dataset: ['logs'] | where status == 500 | summarize count() by uri.",
    }),
  },
  {
    written: /^(?:(?:top\(\s*)?(?:sum|avg|min|max|count|p\d\d):[\w.]+\{|(?:logs|events|metrics)\(["'])/,
    says: () => ({
      message: 'this is a Datadog query, not APL',
      hint: 'Start with the dataset: [\'logs\'] | where service == "web" | summarize count() by bin_auto(_time).',
    }),
  },
  {
    written: /^\.?(?:show|list)\s+(?:tables|datasets|databases|indexes|indices)\b|^\\(?:dt?|l)\+?$/i,
    says: () => ({
      message: 'use a magic to list datasets',
      hint: 'Write %datasets.',
      instead: '%datasets',
    }),
  },
  {
    written:
      /^(?:describe|desc|\\dt?\+?|show\s+columns\s+(?:from|in))\s+(?:table\s+)?["'`]?([\w.-]+)["'`]?$/i,
    says: ([, name = '']) => ({
      message: 'use a magic to list the fields of a dataset',
      hint: `Write %schema ${name}.`,
      instead: `%schema ${name}`,
    }),
  },
  {
    written: /^(?:(?:help|man)(?:\s+(\w+)|\(\s*["']?(\w*)["']?\s*\))?|\?+\s*(\w*))$/i,
    says: ([, after, within, marked]) => {
      const topic = after ?? within ?? marked ?? '';
      const instead = topic === '' ? '%help' : `%help ${topic}`;
      return { message: 'help is a magic', hint: `Write ${instead}.`, instead };
    },
  },
  {
    written:
      /^(?:[ez]?grep|rg|ag)\s+((?:-\w+\s+)*)(["']?)([^"'\s|]+|[^"'|]+\2)\s+["']?([\w-]+)["']?(\s*\|[\s\S]+)?$/,
    says: ([, options = '', , word = '', name = '', rest = '']) => {
      const no = /v/.test(options) ? 'not ' : '';
      const count = /c/.test(options)
        ? ' | count'
        : rest.replace(/^\s*\|\s*(?:wc\s+-l$)?/, match => (match.includes('wc') ? ' | count' : ' | '));
      const instead = `['${name}'] | search ${no}${JSON.stringify(word.replace(/["']$/, ''))}${count}`;
      return { message: 'shell commands do not run here', hint: `In APL: ${instead}`, instead };
    },
  },
  {
    written: /^(?:jq\s+(?:-\w+\s+)*)?(["']?)\.(?:\[\])?\s*\|\s*([\s\S]+?)\1(?:\s+([\w-]+))?$/,
    says: ([, , stages = '', name = 'logs']) => {
      const instead = `['${name}'] | ${stages}`;
      return { message: 'this is jq, not APL', hint: `Start with the dataset: ${instead}`, instead };
    },
  },
  {
    written: /^(?:map\()?select\s*\(\s*\.(\w[\s\S]*?)\)+$/,
    says: ([, condition = '']) => {
      const instead = `['logs'] | where ${condition}`;
      return { message: 'this is jq, not APL', hint: `In APL: ${instead}`, instead };
    },
  },
  {
    written:
      /^(?:!\s*\w|%%(?:bash|sh|script)\b|(?:ls|cd|cat|less|head|tail|e?grep|rg|jq|awk|sed|kubectl|docker|echo|ssh|systemctl|journalctl|python3?|curl|wget|pip3?|npm|conda|git|sudo|man)\s+[-\w./"'~])/,
    says: () => ({
      message: 'shell commands do not run here',
      hint: 'Use a terminal for them; cells contain APL and magics. `%import FILE` reads a file.',
    }),
  },
  {
    written: /^["'`]?([A-Za-z_][\w-]*)["'`]?\s*\?+$/,
    says: ([, name = '']) => ({
      message: 'use a magic to list the fields of a dataset',
      hint: `Write %schema ${name}.`,
      instead: `%schema ${name}`,
    }),
  },
  {
    written:
      /^(?:\[["']([^"'\]]+)["']\]|([A-Za-z_]\w*))\.(where|take|limit|extend|project|summarize|distinct|count|search|filter|select)\(([^()]*(?:\([^()]*\)[^()]*)*)\)$/,
    says: ([, quoted, plain = '', word = '', args = '']) => {
      const instead = `['${quoted ?? plain}'] | ${`${word} ${args}`.trim()}`;
      return {
        message: 'datasets do not have methods',
        hint: `Write operators after a pipe: ${instead}`,
        instead,
      };
    },
  },
  {
    written: /^(-?\d[\w.]*(?:\s*[-+*/%]\s*-?\d[\w.]*)+)$/,
    says: ([, sum = '']) => ({
      message: 'expected a dataset, found an expression',
      hint: `Write print ${sum}.`,
      instead: `print ${sum}`,
    }),
  },
  {
    written: /^explain\s+(?:(?:analyze|verbose|extended|plan\s+for)\s+|\([^)]*\)\s*)*([^|\s][\s\S]*)$/i,
    says: ([, query = '']) => {
      const { apl = query, reason } = translatedQuery(query) ?? {};
      const message = 'queries do not have a visible plan: what a query read is shown below its result';
      if (reason !== undefined) return { message, hint: reason };
      return { message, hint: `Run it: ${apl.replace(/\n\s*/g, ' ')}`, instead: apl };
    },
  },
  {
    written: /^(?:insert\s+into|delete\s+from|update\s+\w+\s+set|(?:create|alter|truncate)\s+table)\b/i,
    says: () => ({
      message: 'a query cannot change data',
      hint: '`%import FILE` adds rows to a dataset of the local service, and `%drop NAME` deletes a dataset.',
    }),
  },
  {
    written: /^drop\s+(?:table|dataset|index)\s+["'`]?([\w.-]+)["'`]?$/i,
    says: ([, name = '']) => ({
      message: 'use a magic to delete datasets',
      hint: `Write %drop ${name}, which asks first.`,
    }),
  },
  {
    written: /^use\s+["'`]?([\w.-]+)["'`]?$/i,
    says: ([, name = '']) => ({
      message: 'each query names its own dataset',
      hint: `Write ['${name}'] | …; %use NAME changes the profile.`,
    }),
  },
  {
    written: /^schema\s+["'`]?([\w.-]+)["'`]?$/i,
    says: ([, name = '']) => ({
      message: 'use a magic to list the fields of a dataset',
      hint: `Write %schema ${name}.`,
      instead: `%schema ${name}`,
    }),
  },
  {
    written:
      /^(?:\w+\s*=\s*)?(?:pd|pl|pandas|polars|spark\.read)\.(?:read_)?(?:csv|json|ndjson|parquet|excel)\(\s*(["'])([^"']+)\1[^)]*\)$/,
    says: ([, , file = '']) => ({
      message: 'use a magic to read a file',
      hint: `Write %import ${file}.`,
      instead: `%import ${/\s/.test(file) ? JSON.stringify(file) : file}`,
    }),
  },
  {
    written: /^\w+\s*=\s*[\w.]+\(/,
    says: () => ({
      message: 'this is not APL: use `let` or `<<` to assign a name',
      hint: "Write let x = …; for a value, or name << ['logs'] | … to keep a result.",
    }),
  },
  {
    written:
      /^(?:import\s+\w+(?:\s+as\s+\w+)?|from\s+\w+\s+import\s.*|(?:for\s+\w+\s+in|while|def|class|if|with)\s[^|]*:(?:\s[\s\S]*)?)$/i,
    says: () => ({
      message: 'this is Python, not APL',
      hint: 'Use a Python notebook for this. `%export` writes a result to a file that it can read.',
    }),
  },
  {
    written: LEAVING,
    says: () => ({ message: 'close the notebook to leave it', hint: 'In a console, press Ctrl+D.' }),
  },
  {
    written: /^(?:len|nrow)\(\s*([A-Za-z_]\w*)\s*\)$|^([A-Za-z_]\w*)\.(?:shape|size)$/,
    says: ([, called, read = '']) => beginning(`['${called ?? read}'] | count`),
  },
  {
    written: /^count(?:\s+|\s*\(\s*)(["'`]?)([A-Za-z_][\w-]*)\1\s*\)?$/,
    says: ([, , name = '']) => beginning(`['${name}'] | count`),
  },
  {
    written: /^(?:take|limit|head|tail)\s+(\d+)\s+(?:from\s+)?["'`]?([A-Za-z_][\w-]*)["'`]?$/i,
    says: ([, count = '', name = '']) => beginning(`['${name}'] | limit ${count}`),
  },
  {
    written: /^(?:count\s+(?:\w+\s+)?by|top\s+\d+)\s+[\w['"]/,
    says: () => ({
      message: 'the query starts with an operator instead of a dataset',
      hint: "Start with the dataset: ['logs'] | top 10 by …; `%datasets` lists all datasets.",
    }),
  },
  {
    written:
      /^["'`]?([A-Za-z_][\w-]*)["'`]?\s+(?:(?:in|over)\s+)?(?:the\s+)?(?:last|past|since)\s+(\d+\s*[a-z]+)$/i,
    says: ([, name = '', size = '']) => ranged(name, size),
  },
  {
    written: /^(?:last|past)\s+(\d+\s*[a-z]+)\s+(?:of\s+)?["'`]?([A-Za-z_][\w-]*)["'`]?$/i,
    says: ([, size = '', name = '']) => ranged(name, size),
  },
  {
    written:
      /^(?!(?:sort|order|group|top|summarize|distinct|partition|count)\b)([A-Za-z_]\w*)\s+by\s+([A-Za-z_][\w.]*(?:\s*,\s*[A-Za-z_][\w.]*)*)$/,
    says: ([, name = '', keys = '']) => beginning(`['${name}'] | summarize count() by ${keys}`),
  },
  {
    written:
      /^(?!(?:let|set|declare|restrict|alias|print|search|where|filter|extend|not|range|union)\b)([A-Za-z_]\w*)\s+([A-Za-z_][\w.]*)\s*(==?|!=|[<>]=?)\s*(\d[\w.]*|"[^"\n]*"|'[^'\n]*'|[A-Za-z_]\w*)$/,
    says: ([, name = '', field = '', sign = '', value = '']) =>
      beginning(`['${name}'] | where ${field} ${sign === '=' ? '==' : sign} ${value}`),
  },
  {
    written:
      /^(?:[A-Za-z_]\w*(?:\.\w+)*)\s*(?:==|!=|[<>]=?|=(?=.*\b(?:and|or)\b))\s*(?:\d[\w.]*|"[^"\n]*"|'[^'\n]*')(?:\s+(?:and|or)\s+[^|\n]+)?$/i,
    says: ([condition = '']) => {
      const instead = `['logs'] | where ${spelled(condition)}`;
      const message = 'the query starts with a condition instead of a dataset';
      return { message, hint: `Start with the dataset: ${instead}`, instead };
    },
  },
  {
    written: /^(.*\S)\s+>{1,2}\s*([\w./~-]+\.(?:csv|tsv|json|ndjson|txt|parquet|md|html))$/,
    says: ([, , file = '']) => ({
      message: 'use a magic to write a result to a file',
      hint: `Run the query, then %export ${file} in the next cell.`,
    }),
  },
  {
    written:
      /^fetch\s+["'`]?([A-Za-z_][\w.-]*)["'`]?\s*((?:,\s*(?:from|to|timeframe|scanLimitGBytes)\s*:[^|,]+)*)(?:\|\s*([\s\S]*))?$/,
    says: ([, name = '', options = '', stages]) => {
      const instead = `['${name}']${stages === undefined ? '' : ` | ${stages.replace(/\bby:\s*\{([^}]*)\}/g, 'by $1').replace(/,\s*by\b/g, ' by')}`}`;
      const range = options === '' ? '' : ' Set the range with %time.';
      return { message: 'this is DQL, not APL', hint: `In APL: ${instead}.${range}`, instead };
    },
  },
  {
    written: /^_(?:source(?:Category|Host|Name)?|index|view|collector)\s*=/,
    says: () => ({
      message: 'this is a Sumo Logic query, not APL',
      hint: 'Start with the dataset: [\'logs\'] | where host == "web" | summarize count() by bin_auto(_time).',
    }),
  },
  {
    written:
      /^(?:show\s+(?:create\s+table|fields|schema|table)|analyze|table)\s+(?:from\s+)?["'`]?([\w.-]+)["'`]?$/i,
    says: ([, name = '']) => ({
      message: 'use a magic to list the fields of a dataset',
      hint: `Write %schema ${name}.`,
      instead: `%schema ${name}`,
    }),
  },
  {
    written:
      /^(?:(?:source\s+|dataset\s*[=:]?\s*)["'`]?([A-Za-z_][\w-]*)["'`]?|dataset\(\s*["']([^"']+)["']\s*\)|(?:cluster\([^)]*\)\.)?database\([^)]*\)\.(?:\[["'])?([A-Za-z_][\w-]*)(?:["']\])?)(\s*\|[\s\S]+)$/,
    says: ([, first, second, third, rest = '']) => beginning(`['${first ?? second ?? third ?? ''}']${rest}`),
  },
  {
    written:
      /^db\.(\w+)\.(?:find\(\s*(?:\{([^{}]*)\})?\s*\)|(count\w*)\(.*\)|[a-z]\w*\([\s\S]*\))(?:\.limit\((\d+)\)|\.pretty\(\))*;?$/i,
    says: ([whole = '', name = '', keys, count, limit]) => {
      const conditions = keys === undefined || keys.trim() === '' ? [] : keys.split(',').map(equality);
      const isClear = count !== undefined || /\.find\(/.test(whole);
      const filter = conditions.length === 0 ? '' : ` | where ${conditions.join(' and ')}`;
      const end = count === undefined ? (limit === undefined ? '' : ` | limit ${limit}`) : ' | count';
      const message = 'this is a MongoDB query, not APL';
      if (!isClear || conditions.includes(undefined))
        return {
          message,
          hint: `Start with the dataset: ['${name}'] | where status == 500 | summarize count() by uri.`,
        };
      const instead = `['${name}']${filter}${end}`;
      return { message, hint: `In APL: ${instead}`, instead };
    },
  },
  {
    written:
      /^(?:what|how\s+(?:many|much|often|long|do|does)|why|who|when|which|can\s+you|please|show\s+me|give\s+me|find\s+me|tell\s+me|are\s+there|is\s+there)\s+[a-z][^|]*$/i,
    says: () => ({
      message: 'a plain-language question is not a query',
      hint: "Start with the dataset: ['logs'] | where status >= 500 | summarize count() by uri. `%datasets` lists all datasets.",
    }),
  },
  {
    written:
      /^(?:where|extend|summarize|project(?:-\w+)?|mv-expand|(?:sort|order)\s+by|top\s+\d+\s+by)\s+[\w['"*($]/,
    says: () => ({
      message: 'the query starts with an operator instead of a dataset',
      hint: "Start with the dataset: ['logs'] | where …; `%datasets` lists all datasets.",
    }),
  },
];

/** Returns the response to a query that does not begin with its dataset. */
function beginning(instead: string): Habit {
  return { message: 'a query starts with its dataset', hint: `In APL: ${instead}`, instead };
}

/** Returns a dataset with a time range specified in its query. */
function ranged(name: string, size: string): Habit {
  const instead = `%%time last ${size.replace(/\s+/g, '')}\n['${name}']`;
  return { message: 'use a magic to set the time range', hint: 'Write %%time above the query.', instead };
}

/** Returns a condition with the words and signs of APL. */
function spelled(condition: string): string {
  return condition
    .replace(/\b(AND|OR|NOT)\b/g, word => word.toLowerCase())
    .replace(/(?<![=!<>~])=(?![=~])/g, '==');
}

/** Returns `status: 500` in an object as a comparison; undefined unless it is a plain value. */
function equality(pair: string): string | undefined {
  const [, name, value] =
    /^\s*["']?([\w.]+)["']?\s*:\s*(\d+(?:\.\d+)?|"[^"]*"|'[^']*'|true|false)\s*$/.exec(pair) ?? [];
  return name === undefined ? undefined : `${name} == ${value}`;
}

/** Returns the response to a line typed out of habit; undefined for anything that may be APL. */
export function habitOf(text: string): Habit | undefined {
  if (text.length > longestStatement) return undefined;
  for (const { written, says } of habits) {
    const match = written.exec(text);
    if (match !== null) return says(match);
  }
  return undefined;
}
