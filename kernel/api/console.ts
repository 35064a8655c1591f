import { type Endpoint, ProfileError } from './profile.js';

/** A query to open in the console. */
export interface LinkedQuery {
  readonly query: string;
  /** The range as written by the user, such as `last 1h`. */
  readonly rangeLabel: string;
  readonly startTime: string;
  readonly endTime: string;
}

/** Returns a query's URL in the console of an endpoint; throws ProfileError if the console is unknown. */
export function consoleLink(
  { profileName, url, orgId }: Pick<Endpoint, 'profileName' | 'url' | 'orgId'>,
  { query, rangeLabel, startTime, endTime }: LinkedQuery,
  isAbsolute: boolean,
): string {
  const { protocol, host } = new URL(url);
  if (!host.startsWith('api.'))
    throw new ProfileError(
      `the console URL for ${host} is unknown`,
      'It is known only for URLs that begin with api., such as https://api.axiom.co.',
    );
  if (orgId === undefined)
    throw new ProfileError(
      `the profile ${profileName} does not name its organization`,
      `Add \`org_id = "…"\` to [deployments.${profileName}] in ~/.axiom.toml, and run \`%use ${profileName}\`.`,
    );
  const [, quickRange] = /^last (\d+[smhdw])$/.exec(rangeLabel) ?? [];
  const range = isAbsolute || quickRange === undefined ? { startTime, endTime } : { quickRange };
  const form = encodeURIComponent(JSON.stringify({ apl: query, queryOptions: range }));
  return `${protocol}//app.${host.slice('api.'.length)}/${encodeURIComponent(orgId)}/query?initForm=${form}`;
}
