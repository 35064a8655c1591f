import { type SqlTemplate, TemplateError } from '../sql/sql-template.js';

/** Returns a template for a function that binding resolves; compiling it is a refusal. */
export function compileTimeOnly(name: string): SqlTemplate {
  return () => {
    throw new TemplateError(`${name} can be used only if the fields of a table are known`, 0);
  };
}

/** Prefixes and lengths of Visa, Mastercard, American Express, Discover, Diners Club, JCB and UnionPay. */
const cardNumbers = [
  '4[0-9]{12}(?:[0-9]{3}){0,2}',
  '(?:5[1-5][0-9]{2}|222[1-9]|22[3-9][0-9]|2[3-6][0-9]{2}|27[01][0-9]|2720)[0-9]{12}',
  '3[47][0-9]{13}',
  '6(?:011|4[4-9][0-9]|5[0-9]{2})[0-9]{12}',
  '3(?:0[0-5]|[68][0-9])[0-9]{11}',
  '(?:2131|1800|35[0-9]{3})[0-9]{11}',
  '62[0-9]{14,17}',
].join('|');

/** Macros that check numbers with a check digit (Luhn, ISO/IEC 7812-1). */
export const luhnSetup: readonly string[] = [
  `CREATE MACRO apl_luhn(s) AS list_sum(list_transform(string_split(reverse(s), ''), (c, i) ->
     CASE WHEN i % 2 = 1 THEN c::BIGINT WHEN c::BIGINT > 4 THEN c::BIGINT * 2 - 9 ELSE c::BIGINT * 2 END)) % 10 = 0`,
  `CREATE MACRO apl_is_card_digits(s) AS CASE WHEN regexp_full_match(s, '${cardNumbers}') THEN apl_luhn(s)
     WHEN s IS NOT NULL THEN false END`,
  `CREATE MACRO apl_is_card(s) AS CASE WHEN regexp_full_match(s, '[0-9]+(?:[ -][0-9]+)*')
     THEN apl_is_card_digits(replace(replace(s, ' ', ''), '-', '')) WHEN s IS NOT NULL THEN false END`,
  `CREATE MACRO apl_is_imei(s) AS CASE WHEN regexp_full_match(s, '[0-9]{15}') THEN apl_luhn(s)
     WHEN s IS NOT NULL THEN false END`,
];
