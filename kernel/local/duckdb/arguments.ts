import { type Atom, atom } from '../sql/atom.js';
import { type SqlArg, TemplateError } from '../sql/template.js';
import { mayFail } from './bounds/lengths.js';

/** Returns the argument at a place counted from 0; the binder has checked that it is there. */
export function at(args: readonly SqlArg[], index: number): SqlArg {
  const arg = args[index];
  if (arg === undefined) throw new TemplateError(`argument ${index + 1} is missing`, index);
  return arg;
}

/**
 * Returns the SQL of a body that names its arguments several times. Columns and short pure expressions are repeated as they
 * stand; when an argument is long or random, all are computed once per row and the body sees them by name, so that nested
 * calls do not grow exponentially and a random value is the same wherever it is read.
 */
export function computeOnce(args: readonly SqlArg[], body: (...sqls: Atom[]) => string): Atom {
  return args.every(isCheap) ? atom(body(...args.map(arg => arg.sql))) : computeFirst(args, body);
}

/** As {@link computeOnce}, but always computes the arguments first: for bodies that read them again for every element of a list. */
export function computeFirst(args: readonly SqlArg[], body: (...sqls: Atom[]) => string): Atom {
  const members = args.map((arg, index) => `'a${index}': ${arg.sql}`);
  return boundSql(members, body(...args.map((_, index) => atom(`v.a${index}`))));
}

/**
 * Returns the SQL of a body whose macros may read its arguments several times: those that hold macros themselves are
 * computed first, or each level of nesting would multiply the size of the query. So are those that may fail or hold a query, if
 * the body has a TRY: the engine refuses them there.
 */
export function computeHeavyFirst(args: readonly SqlArg[], body: (args: readonly SqlArg[]) => string): Atom {
  const tries = args.some(mayRaise) && body(args).includes('TRY(');
  const heavy = args.filter(arg => isHeavy(arg) || (tries && mayRaise(arg)));
  if (heavy.length === 0) return atom(body(args));
  const members = heavy.map((arg, index) => `'a${index}': ${arg.sql}`);
  const named = args.map(arg =>
    heavy.includes(arg) ? { ...arg, sql: atom(`v.a${heavy.indexOf(arg)}`), computed: true } : arg,
  );
  return boundSql(members, body(named));
}

/** A body that reads values, computed once, as the members of `v`. */
function boundSql(members: readonly string[], body: string): Atom {
  return atom(`list_transform([{${members.join(', ')}}], lambda v: ${body})[1]`);
}

const longestRepeated = 60;
const longestNested = 300;

function isHeavy({ sql, constant, computed }: SqlArg): boolean {
  if (constant !== undefined || computed === true) return false;
  return (
    sql.length > longestNested || sql.indexOf('apl_') !== sql.lastIndexOf('apl_') || sql.includes('random()')
  );
}

function mayRaise({ sql, constant, computed }: SqlArg): boolean {
  return constant === undefined && computed !== true && (mayFail(sql) || sql.includes('SELECT '));
}

function isCheap(arg: SqlArg): boolean {
  return arg.constant !== undefined || (arg.sql.length <= longestRepeated && !arg.sql.includes('random()'));
}
