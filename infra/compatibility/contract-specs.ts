import { globSync } from 'node:fs';
import { APPS, type AppName } from '@customer-platform/local/platform/modules.ts';

/**
 * What of a release's tests is run against another release's databases: of each module those through which every one of
 * its writes goes and every consumer works, at its API or its topics. Left out is what asks for other things: values
 * without a database, how migrations run, sheer volume, behaviour while a server is away, and the plans of statements.
 *
 * Folders and files as they are now, and as releases before had them. A release that lacks one is tested by those it has, and the table says how many.
 */
const CONTRACT_SPECS: Record<AppName, readonly string[]> = {
  identity: [
    // Organizations, roles, keys, people: each route that writes; `revocation` and `database-authorization`: what others
    // are told of it; `operator`: the commands that found an organization.
    'organizations/organization{s.controller,-settings,-purge}',
    'roles/roles.controller',
    'api-keys/api-keys.controller',
    'users/users.controller',
    'memberships/memberships.controller',
    'invitations/*',
    'mfa/mfa.controller',
    'sessions/sessions.controller',
    'authorization/{revocation,database-authorization.source}',
    'operator/operator',
  ],
  core: [
    // `processing`, `ingestion`: from the queue into contacts, identities, events and counters; the rest: what people
    // and other modules change by the API, and the two jobs that follow (segments, audit log).
    'processing/{processing,contested-identities}',
    'ingestion/ingestion',
    'ingestion/rate-limits/sharing',
    '{people/,}identities/identities',
    '{people/,}contacts/{contacts.service,contact-lifecycle,internal-contacts}',
    '{vocabulary/,}contacts/contact-profile',
    '{people/merges,contacts/merge}/{merges,merge-undo,merge-consents}',
    '{people,contacts}/suggestions/suggestions',
    '{people/national-ids,contacts/national-id}/national-id',
    '{people/,}consents/consents',
    'events/events',
    'dead-letters/{dead-letters,late-stages}',
    'taxonomies/taxonomies',
    'segments/{building,following,segments.controller,contacts-of-segments,merged-contacts}',
    'members/{members,token-exchange}',
    'catalogs/catalogs',
    'usage/{usage,conservation}',
    'audit-log/audit-{log,chain}',
  ],
  crm: [
    // The resources, custom objects among them with their records and indexes; what follows contacts (merged, purged,
    // erased), and the timeline that reads all of it.
    'notes/*',
    'activities/activities.controller',
    'activity-types/activity-types.controller',
    'lists/{lists.controller,list-members}',
    'objects/definitions/object-definitions.controller',
    'objects/records/{object-records.controller,record-lists,records-follow-contacts}',
    'contact-refs/*',
    'timeline/timeline.controller',
  ],
  loyalty: [
    // Rules, the ledger by events and by postings, and what follows contacts.
    'rules/rules.controller',
    'earning/{earning,caps}',
    'expiry/expiry',
    'postings/{postings,reversals}',
    'ledger/{balance,contact-references,erasure,ledger,merges,sums-rebuild,transactions-list}',
  ],
  messaging: [
    // A send from each of its sources to its report; the resources around it; what follows contacts; the jobs.
    '{requests/,}sends/*',
    'send-events',
    '{requests/,}routing/{routing,event-waits,waiting-events}',
    '{requests/,}identity-mail/identity-mail',
    '{consuming/,}events.consumer',
    '{contacts/,erasure/,}contact-erasure',
    '{dispatch/,}gate/{dispatch,calendar,channels,misconfigured}',
    '{reports/,}webhooks/{webhooks,soft-bounces}',
    '{content/,}templates/templates.controller',
    '{settings/,}channels/channel-settings',
    '{people/,}suppressions/suppressions',
    '{people/,}unsubscribe/unsubscribe',
    '{people/,}members/members',
    'webhook-endpoints/webhook-endpoints.controller',
    'webhook-endpoints/deliveries/{deliveries,erased-deliveries,maker-rights,told-again}',
    '{settings/,}sender-domains/{sender-domains.controller,verification,domain-progress,signed-mail}',
    '{requests/,}campaigns/{campaigns.controller,runs/runs}',
    '{background/,}jobs/background-jobs',
  ],
  // What identity mails is a journey now; in checkouts of before it is a file of its own.
  gateway: ['../test/{chain,journeys,identity-mail}'],
};

/** Through all apps at once, as processes: what is run with some apps of either release. */
export const CHAIN_SPEC = 'apps/gateway/test/chain.e2e-spec.ts';

/** The spec files of one app that a checkout has, of so many that there are patterns for. */
export function contractSpecs(root: string, app: AppName): string[] {
  const patterns = CONTRACT_SPECS[app].map((path) => `apps/${app}/src/${path}.{spec,e2e-spec}.ts`);
  return globSync(patterns, { cwd: root }).sort();
}

/** Patterns that no file of this checkout answers to: renamed or removed since. */
export function patternsWithoutFiles(root: string): string[] {
  return APPS.flatMap((app) =>
    CONTRACT_SPECS[app]
      .map((path) => `apps/${app}/src/${path}.{spec,e2e-spec}.ts`)
      .filter((pattern) => globSync(pattern, { cwd: root }).length === 0),
  );
}
