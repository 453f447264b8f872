/** Whose a bound is: what somebody has to have more of to be let do more. */
export type BoundOwner =
  /** The organization below the root with all beneath it, and less of it each organization: founding further ones gives no more. */
  | 'tenant'
  /** The network that a caller comes from, or the address, the person or the credential that it is about. */
  | 'caller'
  /** Rows that an organization keeps: further organizations, of which there are 1,000 below one, have their own. */
  | 'rows'
  /** Everybody together: no tenant has a share. */
  | 'platform';

/** A place in the sources that refuses what is too much. */
export interface Bound {
  readonly file: string;
  /** The thing that is bounded. */
  readonly what: string;
  readonly of: BoundOwner;
  /** The refusals that stand there. */
  readonly refusals: number;
  /** The spec in which children of one tenant use it up, and a neighbour does not; demanded where it is a tenant's. */
  readonly shownBy?: string;
}

/** Every place that refuses what is too much. A new one fails `bounds.spec.ts` until it stands here. */
export const BOUNDS: readonly Bound[] = [
  {
    file: 'apps/core/src/events/live/stream-slots.ts',
    what: 'streams of events that are open',
    of: 'tenant',
    refusals: 1,
    shownBy: 'apps/core/src/events/live/live-places.spec.ts',
  },
  {
    file: 'apps/core/src/events/live/live-streams.ts',
    what: 'streams of events on an instance',
    of: 'tenant',
    refusals: 1,
    shownBy: 'apps/core/src/events/live/live-places.spec.ts',
  },
  {
    file: 'apps/core/src/imports/upload/upload-slots.ts',
    what: 'files that are taken at once',
    of: 'tenant',
    refusals: 2,
    shownBy: 'apps/core/src/imports/upload/upload-slots.spec.ts',
  },
  {
    file: 'apps/core/src/imports/waiting-imports.ts',
    what: 'imports that wait, and the size of their files',
    of: 'tenant',
    refusals: 2,
    shownBy: 'apps/core/src/imports/upload/import-upload.spec.ts',
  },
  {
    file: 'apps/core/src/ingestion/fair-shares/fair-shares.ts',
    what: 'events that are taken while there is more than can be done',
    of: 'tenant',
    refusals: 1,
    shownBy: 'apps/core/src/ingestion/fair-shares/fair-shares.spec.ts',
  },
  {
    file: 'apps/core/src/ingestion/ingestion.service.ts',
    what: 'events a second, by the limits of the organization and of all above it',
    of: 'tenant',
    refusals: 1,
    shownBy: 'apps/core/src/ingestion/rate-limits/rate-limiter.spec.ts',
  },
  {
    file: 'apps/core/src/people/contacts/contact-identities.ts',
    what: 'identities of a contact',
    of: 'rows',
    refusals: 1,
  },
  {
    file: 'apps/core/src/people/national-ids/national-id-lookup.ts',
    what: 'look-ups of national ids a minute',
    of: 'tenant',
    refusals: 1,
    shownBy: 'apps/core/src/people/national-ids/national-id-lookup.spec.ts',
  },
  {
    file: 'apps/core/src/previews/preview-slots.ts',
    what: 'previews, explanations and dry runs at once',
    of: 'tenant',
    refusals: 2,
    shownBy: 'apps/core/src/previews/preview-slots.spec.ts',
  },
  { file: 'apps/crm/src/lists/list-members.service.ts', what: 'members of a list', of: 'rows', refusals: 1 },
  {
    file: 'apps/gateway/src/overloaded.ts',
    what: 'calls while answers take too long, by their class',
    of: 'platform',
    refusals: 2,
  },
  {
    file: 'apps/identity/src/api-keys/api-keys.service.ts',
    what: 'keys of an organization',
    of: 'rows',
    refusals: 1,
  },
  {
    file: 'apps/identity/src/invitations/invitations.service.ts',
    what: 'repetitions of an invitation; what leaves is bounded by mailbox and tenant besides',
    of: 'rows',
    refusals: 1,
  },
  { file: 'apps/identity/src/mfa/factors.store.ts', what: 'factors of a person', of: 'rows', refusals: 1 },
  {
    file: 'apps/identity/src/mfa/mfa-attempts.ts',
    what: 'wrong codes of a person',
    of: 'caller',
    refusals: 1,
  },
  {
    file: 'apps/identity/src/organizations/organization.founding.ts',
    what: 'the depth of the tree',
    of: 'rows',
    refusals: 1,
  },
  {
    file: 'apps/identity/src/organizations/rate-limits.ts',
    what: 'organizations directly below one, and beneath a tenant',
    of: 'rows',
    refusals: 1,
  },
  {
    file: 'apps/identity/src/passwords/password-attempts.ts',
    what: 'wrong passwords of an address and of a network',
    of: 'caller',
    refusals: 1,
  },
  {
    file: 'apps/identity/src/passwords/password-pool.ts',
    what: 'passwords that are looked at, in all and from one network',
    of: 'caller',
    refusals: 1,
  },
  {
    file: 'apps/identity/src/role-assignments/role-assignments.service.ts',
    what: 'roles of a member',
    of: 'rows',
    refusals: 1,
  },
  {
    file: 'apps/identity/src/sso-connections/provider-places.ts',
    what: 'requests that wait for identity providers and name servers',
    of: 'tenant',
    refusals: 2,
    shownBy: 'apps/identity/src/sso-connections/provider-places.spec.ts',
  },
  {
    file: 'apps/identity/src/sso-connections/sso-connections.service.ts',
    what: 'changes that ask identity providers, by the places of those',
    of: 'tenant',
    refusals: 1,
    shownBy: 'apps/identity/src/sso-connections/provider-places.spec.ts',
  },
  {
    file: 'apps/identity/src/users/address-probes.ts',
    what: 'refusals that tell that an address is taken',
    of: 'tenant',
    refusals: 1,
    shownBy: 'apps/identity/src/users/users.controller.spec.ts',
  },
  {
    file: 'apps/messaging/src/background/call-bounds/minute-calls.ts',
    what: 'calls that ask servers of others, a minute and at once',
    of: 'tenant',
    refusals: 2,
    shownBy: 'apps/messaging/src/settings/sender-domains/verification-turns.spec.ts',
  },
  {
    file: 'apps/messaging/src/requests/campaigns/check/campaign-check.ts',
    what: 'checks of campaigns at once',
    of: 'tenant',
    refusals: 2,
    shownBy: 'apps/messaging/src/requests/campaigns/check/campaign-check.spec.ts',
  },
  {
    file: 'apps/messaging/src/dispatch/identity-lane/identity-preparation.ts',
    what: "identity's mails a day",
    of: 'tenant',
    refusals: 1,
    shownBy: 'apps/messaging/src/dispatch/identity-lane/identity-mail-limits.spec.ts',
  },
  {
    file: 'apps/messaging/src/content/rendering/render-pool.ts',
    what: 'templates that wait to be rendered',
    of: 'tenant',
    refusals: 1,
    shownBy: 'apps/messaging/src/content/rendering/render-bounds.spec.ts',
  },
  {
    file: 'apps/messaging/src/settings/sender-domains/dkim-key-maker.ts',
    what: 'keys of sender domains that are made at once',
    of: 'tenant',
    refusals: 2,
    shownBy: 'apps/messaging/src/settings/sender-domains/dkim-key-maker.spec.ts',
  },
  {
    file: 'apps/messaging/src/requests/sends/send-acceptance.service.ts',
    what: 'tests of templates to one address',
    of: 'rows',
    refusals: 2,
  },
  {
    file: 'apps/messaging/src/webhook-endpoints/deliveries/sockets.ts',
    what: 'deliveries of webhooks at once',
    of: 'tenant',
    refusals: 1,
    shownBy: 'apps/messaging/src/webhook-endpoints/deliveries/sockets.spec.ts',
  },
  {
    file: 'libs/authorization/src/stranger-lane.ts',
    what: 'unknown credentials from one network',
    of: 'caller',
    refusals: 1,
  },
  {
    file: 'libs/database/src/resources/resource-limits.ts',
    what: 'rows of a resource that are active',
    of: 'rows',
    refusals: 1,
  },
];

/** Jobs that take rows and not by tenant, each with the reason why nobody waits for another's. */
export const OTHER_JOBS: Readonly<Record<string, string>> = {
  'apps/core/src/ingestion/refusals.ts': 'adds the counts of all organizations in one statement',
  'apps/identity/src/sessions/session-sweep.ts': 'by `EndingsInPieces`, which asks for turns',
  'apps/identity/src/sso-connections/domain-recheck.ts': 'tenants take turns in its statement',
  'apps/messaging/src/settings/sender-domains/domain-recheck.ts': 'tenants take turns in its statement',
  'apps/messaging/src/webhook-endpoints/deliveries/deliverer.ts': 'by the places of `Sockets`',
  'apps/messaging/src/requests/campaigns/runs/campaign-counts.ts':
    'counts that are shown, by `OrganizationTurns`',
  'apps/messaging/src/reports/deliverability/deliverability-counter.ts':
    'counts that are shown, by `OrganizationTurns`',
  'apps/messaging/src/reports/webhooks/report-sweep.ts':
    'reports that came before their send, the longest due first',
  'libs/database/src/jobs/retention.ts': 'rows that have had their time, for which nobody waits',
  'libs/event-bus/src/consuming/supervised.consumer.ts': 'in the order of its partitions',
  'libs/event-bus/src/outbox/outbox.relay.ts': 'in the order of the outbox',
};
