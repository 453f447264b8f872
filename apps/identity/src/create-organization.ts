import {
  issueOption,
  localeOption,
  nameOption,
  rateLimitOptions,
  slugOption,
  timezoneOption,
} from './operator/options.js';
import { OperatorRefusal } from './operator/operator.js';
import { runCommand } from './operator/run-command.js';

const HELP = `
Founds an organization and issues keys for it. Prints one line of JSON:

  {"organization_id", "slug", "name", "created", "keys": {"ingestion": {"id", "prefix", "key"}, "administrator": {…}}}

  node apps/identity/dist/create-organization.js --name NAME --slug SLUG [options]

  --parent SLUG                  the organization above (the root)
  --locale TAG, --timezone ZONE  the parent's unless given
  --rate-limit-key N             events per second for each key (the platform's default: 1000)
  --rate-limit-organization N    events per second for the organization (2000); both or neither, up to 100000
  --issue ingestion              a key that may send events and contacts; may be given beside the next
  --issue administrator          a key that may do everything in the organization
  --reissue                      if the slug is taken, equips that organization anew: sets the rate limits, revokes the
                                 keys that this command issued before for the same purposes, issues new ones

DATABASE_URL names identity's database (role identity_app), migrated and bootstrapped.
`;

await runCommand({
  help: HELP,
  options: {
    name: { type: 'string' },
    slug: { type: 'string' },
    parent: { type: 'string' },
    locale: { type: 'string' },
    timezone: { type: 'string' },
    'rate-limit-key': { type: 'string' },
    'rate-limit-organization': { type: 'string' },
    issue: { type: 'string', multiple: true },
    reissue: { type: 'boolean' },
  },
  run: async (operator, values) => {
    const [name, slug] = [nameOption(values), slugOption(values)];
    if (name === undefined || slug === undefined) {
      throw new OperatorRefusal('Give --name and --slug; see --help.', 2);
    }
    const parentSlug = slugOption(values, 'parent');
    const locale = localeOption(values);
    const timezone = timezoneOption(values);
    const rateLimits = rateLimitOptions(values);
    const { organization, created, keys } = await operator.createOrganization({
      name,
      slug,
      ...(parentSlug === undefined ? {} : { parentSlug }),
      ...(locale === undefined ? {} : { locale }),
      ...(timezone === undefined ? {} : { timezone }),
      ...(rateLimits === undefined ? {} : { rateLimits }),
      issue: issueOption(values),
      reissue: values['reissue'] === true,
    });
    const { id, slug: takenSlug, name: takenName } = organization;
    return JSON.stringify({ organization_id: id, slug: takenSlug, name: takenName, created, keys });
  },
});
