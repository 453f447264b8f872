import { EVENT_TYPES, type EventType } from '@customer-platform/events';
import type { Permission } from '@customer-platform/permissions';
import { Problem } from '@customer-platform/problem-json';
import { subscriptionsTo } from './subscriptions.js';

type NounOf<T> = T extends `${infer Module}.${infer Noun}.${string}` ? `${Module}.${Noun}` : never;
type NameOf<T> = T extends `${infer Module}.${infer Noun}.${infer Verb}.${string}`
  ? `${Module}.${Noun}.${Verb}`
  : never;

/**
 * What one must be able to read to be told of an event, by what it is about. A noun that is missing here does not
 * compile: no event can be published that anybody may subscribe to.
 */
const BY_NOUN: Record<NounOf<EventType>, readonly Permission[]> = {
  'core.attribute': ['core.attributes.read'],
  'core.consent': ['core.consents.read'],
  'core.contact': ['core.contacts.read'],
  'core.dead_letter': ['core.jobs.read', 'core.events.read'],
  'core.erasure': ['core.subject_requests.read'],
  'core.event': ['core.events.read'],
  'core.identity': ['core.contacts.read'],
  'core.import': ['core.imports.read'],
  'core.segment': ['core.segments.read'],
  'core.subject_request': ['core.subject_requests.read'],
  'core.taxonomy': ['core.taxonomies.read'],
  'crm.activity': ['crm.activities.read'],
  'crm.activity_type': ['crm.activity_types.read'],
  'crm.erasure': ['core.subject_requests.read'],
  'crm.list': ['crm.lists.read'],
  'crm.list_members': ['crm.lists.read'],
  'crm.note': ['crm.notes.read'],
  'crm.object': ['crm.objects.read'],
  'crm.object_definition': ['crm.objects.read'],
  'identity.api_key': ['identity.api_keys.read'],
  // Nothing lists impersonations but the log of what was done.
  'identity.impersonation': ['core.audit.read'],
  'identity.invitation': ['identity.invitations.read'],
  'identity.membership': ['identity.memberships.read'],
  // Those of others, which `identity.mfa.read` does not show.
  'identity.mfa_factor': ['identity.users.read'],
  'identity.oauth_client': ['identity.oauth_clients.read'],
  'identity.organization': ['identity.organizations.read'],
  'identity.password': ['identity.users.read'],
  'identity.recovery_code': ['identity.users.read'],
  'identity.role': ['identity.roles.read'],
  'identity.role_assignment': ['identity.roles.assign'],
  // Other people's sessions are read with both (identity.md §5).
  'identity.session': ['identity.sessions.read', 'identity.users.update'],
  'identity.sso_connection': ['identity.sso.read'],
  'identity.user': ['identity.users.read'],
  'loyalty.erasure': ['core.subject_requests.read'],
  'loyalty.evaluation': ['loyalty.transactions.read'],
  'loyalty.points': ['loyalty.transactions.read'],
  'loyalty.rule': ['loyalty.rules.read'],
  'messaging.campaign': ['messaging.campaigns.read'],
  'messaging.channel': ['messaging.channels.read'],
  'messaging.erasure': ['core.subject_requests.read'],
  // What a contact wants to receive is its consent, by topic.
  'messaging.preference': ['core.consents.read'],
  'messaging.send': ['messaging.sends.read'],
  'messaging.sender_domain': ['messaging.domains.read'],
  'messaging.suppression': ['messaging.suppressions.read'],
  'messaging.template': ['messaging.templates.read'],
  'messaging.webhook_endpoint': ['messaging.webhooks.read'],
};

/** Events that tell something else than the rest of their noun. */
const BY_NAME: Partial<Record<NameOf<EventType>, readonly Permission[]>> = {
  'core.event.dead_lettered': ['core.jobs.read'],
};

const BY_SUBSCRIPTION = new Map<string, Set<Permission>>();
for (const type of EVENT_TYPES) {
  for (const subscription of subscriptionsTo(type)) {
    const permissions = BY_SUBSCRIPTION.get(subscription) ?? new Set();
    for (const permission of ofEvent(type)) permissions.add(permission);
    BY_SUBSCRIPTION.set(subscription, permissions);
  }
}

function ofEvent(type: EventType): readonly Permission[] {
  const [module, noun, verb] = type.split('.');
  const name = `${module ?? ''}.${noun ?? ''}.${verb ?? ''}` as NameOf<EventType>;
  return BY_NAME[name] ?? BY_NOUN[`${module ?? ''}.${noun ?? ''}` as NounOf<EventType>];
}

/** The permissions that read what a subscription tells: one event's, or all of a module's for `messaging.*`. */
export function permissionsToRead(subscription: string): readonly Permission[] {
  const permissions = BY_SUBSCRIPTION.get(subscription);
  if (!permissions) throw new TypeError(`nothing is published as ${subscription}`);
  return [...permissions];
}

/**
 * Nobody has carried out what they cannot read.
 * @throws Problem `privilege_escalation` with `missing`
 */
export function demandPermissions(
  caller: { can(permission: Permission): boolean },
  needed: readonly Permission[],
): void {
  const missing = [...new Set(needed)].filter((permission) => !caller.can(permission)).sort();
  if (missing.length === 0) return;
  throw new Problem('privilege_escalation', {
    detail: `The caller lacks ${String(missing.length)} of the permissions that read what this tells.`,
    members: { missing },
  });
}
