import { localeOption, nameOption, slugOption, timezoneOption } from './operator/options.js';
import type { EquippedOrganization } from './operator/operator.js';
import { runCommand } from './operator/run-command.js';

const HELP = `
Founds the root organization with its built-in roles and issues one owner key, which is printed once. Where a root
exists it changes nothing and exits with 3.

  node apps/identity/dist/bootstrap.js [options]

  --name NAME        name of the root organization (Platform)
  --slug SLUG        its slug (platform)
  --locale TAG       its language (en)
  --timezone ZONE    its time zone (UTC)
  --recover SLUG     instead: issues a new owner key for that organization
  --json             prints JSON: organization_id, slug, key_id, prefix, key

DATABASE_URL names identity's database (role identity_app), already migrated.
`;

await runCommand({
  help: HELP,
  options: {
    name: { type: 'string' },
    slug: { type: 'string' },
    locale: { type: 'string' },
    timezone: { type: 'string' },
    recover: { type: 'string' },
    json: { type: 'boolean' },
  },
  run: async (operator, values) => {
    const lost = slugOption(values, 'recover');
    const equipped =
      lost === undefined
        ? await operator.bootstrap({
            name: nameOption(values) ?? 'Platform',
            slug: slugOption(values) ?? 'platform',
            locale: localeOption(values) ?? 'en',
            timezone: timezoneOption(values) ?? 'UTC',
          })
        : await operator.recover(lost);
    return values['json'] ? asJson(equipped) : asText(equipped);
  },
});

function asJson({ organization, keys: { administrator } }: EquippedOrganization): string {
  return JSON.stringify({
    organization_id: organization.id,
    slug: organization.slug,
    key_id: administrator?.id,
    prefix: administrator?.prefix,
    key: administrator?.key,
  });
}

function asText({ organization, created, keys: { administrator } }: EquippedOrganization): string {
  return [
    created
      ? `The root organization ${organization.slug} is founded (${organization.id}).`
      : `A new owner key for ${organization.slug} (${organization.id}).`,
    'Owner key, shown this once; keep it safe:',
    `  ${administrator?.key ?? ''}`,
  ].join('\n');
}
