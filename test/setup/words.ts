/** Banned words: a pattern, its replacement, and the lines that need it all the same. CONTRIBUTING has the reasons. */
export const WORDS: readonly {
  readonly not: RegExp;
  readonly but: string;
  readonly except?: readonly RegExp[];
}[] = [
  { not: /colour/i, but: 'color', except: [/render bar with \(colour=red\)/] },
  { not: /neighbour/i, but: 'neighbor' },
  { not: /behaviour/i, but: 'behavior' },
  { not: /catalogue/i, but: 'catalog' },
  { not: /\bcentre|centred/i, but: 'center' },
  { not: /labelled(?!by|-by)/i, but: 'labeled' },
  { not: /cancell(?!ation)/i, but: 'canceled' },
  {
    not: /\b(?:organ|normal|recogn|initial|serial|optim|capital|minim|maxim)is(?:e|es|ed|ing|ation|ations)\b/i,
    but: 'ize',
  },
  { not: /\bwish(?:es)?\b|[a-z]Wish\b/, but: 'options', except: [/^\| wish \| options \|$/] },
  {
    not: /\bremarks?\b|[a-z]Remarks?\b/,
    but: 'note',
    except: [/^\| remark \| note; /, / FROM system\.jdbc\.columns /],
  },
  {
    not: /mistake/i,
    but: 'error, or diagnostic',
    except: [/^\| mistake \| /, /markMistakes/, /'apl:(?:next|previous)-mistake'/],
  },
  { not: /picture/i, but: 'image, SVG or screenshot', except: [/^\| picture \| /, /^<\/?picture>$/] },
  { not: /\bstretch/i, but: 'selection, span or interval', except: [/^\| stretch \| /] },
  { not: /\blanes?\b|[a-z]Lanes?\b|^Lane/, but: 'worker, or slot', except: [/^\| lane \| /] },
  {
    not: /\bmoments?\b|Moment|MOMENT/,
    but: 'timestamp, or time',
    except: [
      /^\| moment \(/,
      /\b(?:in|for|after) a moment\b|\ba moment (?:ago|before)\b|\bat (?:any|the|the same) moment\b/,
      /\bsumOf\('moment'|format, moment, sum|typeof moment/,
    ],
  },
  {
    not: /\b(?:lend|lends|lent|lending|loans?)\b|Lent\b|Loan/,
    but: 'send, or lease',
    except: [/^\| lend, loan \| /],
  },
  {
    not: /\bwhere there (?:is|are|was|were) (?:no|none|nothing|any|one|several)\b/i,
    but: 'if, or when: a condition is no place',
  },
  { not: /\b(?:undefined|null|absent|empty|none|false|true) where\b/i, but: 'if, or when' },
  { not: /\b(?:length|span)s? of time\b/i, but: 'duration', except: [/^\| length of time \| /] },
  { not: /shelf/i, but: 'registry', except: [/^\| shelf \| /] },
  { not: /\b(?:whilst|amongst|thereof|hereby|wherein|whatsoever)\b/i, but: 'a plain word' },
  {
    not: /(?<!\bthere )\b(?:is|are|was|were) no (?!longer|more\b|wider|reason|surprise|difference|secret|news|room|place\b|further|damage)/i,
    but: 'is not a',
    except: [/^\| is no \(/],
  },
  { not: /\b[sS]ightOf\b|\bSight\b/, but: 'view, or input' },
  { not: /\bOutline\b|toOutline/, but: 'layout' },
  { not: /(?<!\bof )\bcourses?\b|\bCourse\b|[a-z]Courses?\b/, but: 'series', except: [/^\| course \| /] },
  { not: /\bspots?\b|\bSpots?\b|[a-z]Spots\b|spotsOf/, but: 'point', except: [/^\| spot \| /] },
  { not: /\bknee/i, but: 'limit, or the name of the parameter' },
  { not: /misus|misfit/i, but: 'usage error, or mismatch', except: [/^\| misuse, misfit \| /] },
  { not: /\binquir/i, but: 'question, or context', except: [/^\| inquiry \| /] },
  { not: /patien(?:ce|tly)/i, but: 'timeout, or retry', except: [/^\| patience \| /] },
  {
    not: /\bForeign[A-Z]|\bforeign[A-Z]|[a-z]Foreign/,
    but: 'of other languages, or external',
    except: [/foreignobject/i],
  },
  { not: /\bslips?\b/i, but: 'typo', except: [/^\| slip \| /] },
  { not: /\bflaw/i, but: 'error, problem or issue', except: [/^\| flaw \| /] },
  {
    not: /\b(?:Kept|Held|kept|held)[A-Z]|[a-rt-z](?:Kept|Held)\b/,
    but: 'cached, saved or retained',
    except: [/\bKeptUnit\b/],
  },
];
