import type { Messages } from 'use-intl';

type Texts = Messages['navigation'];

/** A page of the Console. Whoever holds none of `permissions` does not see it; none are needed where it is empty. */
export interface Place {
  name: keyof Texts['places'];
  /** Its address within the organization, without a slash at its beginning. */
  path: string;
  permissions: readonly string[];
}

/** A page of the menu, with those below it. */
interface Section extends Place {
  parts?: readonly Place[];
}

/** A form or a dialog that an address opens. */
export interface Act {
  name: keyof Texts['acts'];
  path: string;
  permission: string;
}

/** Every page of the Console that needs no id, in the order of the menu. */
const SECTIONS: readonly Section[] = [
  { name: 'home', path: '', permissions: [] },
  {
    name: 'events',
    path: 'events',
    permissions: ['core.events.read'],
    parts: [
      { name: 'liveEvents', path: 'events', permissions: ['core.events.read'] },
      { name: 'earlierEvents', path: 'events/earlier', permissions: ['core.events.read'] },
    ],
  },
  {
    name: 'contacts',
    path: 'contacts',
    permissions: ['core.contacts.read'],
    parts: [
      { name: 'allContacts', path: 'contacts', permissions: ['core.contacts.read'] },
      { name: 'lists', path: 'contacts/lists', permissions: ['crm.lists.read'] },
      { name: 'imports', path: 'contacts/imports', permissions: ['core.imports.read'] },
      { name: 'duplicates', path: 'contacts/merge-suggestions', permissions: ['core.contacts.merge'] },
    ],
  },
  { name: 'segments', path: 'segments', permissions: ['core.segments.read'] },
  { name: 'attributes', path: 'attributes', permissions: ['core.attributes.read'] },
  { name: 'objects', path: 'objects', permissions: ['crm.objects.read'] },
  {
    name: 'messages',
    path: 'messages',
    permissions: [
      'messaging.sends.read',
      'messaging.templates.read',
      'messaging.campaigns.read',
      'messaging.routing.read',
      'messaging.channels.read',
      'messaging.suppressions.read',
      'messaging.deliverability.read',
      'messaging.domains.read',
    ],
    parts: [
      { name: 'sends', path: 'messages', permissions: ['messaging.sends.read'] },
      { name: 'templates', path: 'messages/templates', permissions: ['messaging.templates.read'] },
      { name: 'campaigns', path: 'messages/campaigns', permissions: ['messaging.campaigns.read'] },
      { name: 'routing', path: 'messages/routing', permissions: ['messaging.routing.read'] },
      { name: 'channels', path: 'messages/channels', permissions: ['messaging.channels.read'] },
      { name: 'suppressions', path: 'messages/suppressions', permissions: ['messaging.suppressions.read'] },
      {
        name: 'deliverability',
        path: 'messages/deliverability',
        permissions: ['messaging.deliverability.read'],
      },
      { name: 'senderDomains', path: 'messages/sender-domains', permissions: ['messaging.domains.read'] },
    ],
  },
  {
    name: 'loyalty',
    path: 'loyalty',
    permissions: ['loyalty.transactions.read', 'loyalty.rules.read'],
    parts: [
      { name: 'ledger', path: 'loyalty', permissions: ['loyalty.transactions.read'] },
      { name: 'loyaltyRules', path: 'loyalty/rules', permissions: ['loyalty.rules.read'] },
    ],
  },
  { name: 'privacy', path: 'privacy', permissions: ['core.subject_requests.read'] },
  {
    name: 'developers',
    path: 'developers',
    permissions: [
      'identity.api_keys.read',
      'messaging.webhooks.read',
      'core.jobs.read',
      'core.taxonomies.read',
    ],
    parts: [
      { name: 'keys', path: 'developers/keys', permissions: ['identity.api_keys.read'] },
      { name: 'webhooks', path: 'developers/webhooks', permissions: ['messaging.webhooks.read'] },
      { name: 'deadLetters', path: 'developers/dead-letters', permissions: ['core.jobs.read'] },
      { name: 'taxonomies', path: 'developers/taxonomies', permissions: ['core.taxonomies.read'] },
      { name: 'reference', path: 'developers/reference', permissions: [] },
    ],
  },
  {
    name: 'organization',
    path: 'organization',
    permissions: [
      'identity.organizations.read',
      'identity.users.read',
      'identity.invitations.read',
      'identity.roles.read',
      'identity.oauth_clients.read',
      'identity.sso.read',
      'identity.users.update',
    ],
    parts: [
      { name: 'settings', path: 'organization', permissions: ['identity.organizations.read'] },
      { name: 'retention', path: 'organization/retention', permissions: ['identity.organizations.read'] },
      { name: 'people', path: 'organization/people', permissions: ['identity.users.read'] },
      { name: 'invitations', path: 'organization/invitations', permissions: ['identity.invitations.read'] },
      { name: 'roles', path: 'organization/roles', permissions: ['identity.roles.read'] },
      { name: 'children', path: 'organization/children', permissions: ['identity.organizations.read'] },
      { name: 'clients', path: 'organization/clients', permissions: ['identity.oauth_clients.read'] },
      { name: 'sso', path: 'organization/sso', permissions: ['identity.sso.read'] },
      { name: 'sessions', path: 'organization/sessions', permissions: ['identity.users.update'] },
    ],
  },
  { name: 'audit', path: 'audit', permissions: ['core.audit.read'] },
  { name: 'account', path: 'account', permissions: [] },
];

/** The acts that one can begin from anywhere. */
const ACTS: readonly Act[] = [
  { name: 'createContact', path: 'contacts?form=true', permission: 'core.contacts.create' },
  { name: 'importContacts', path: 'contacts/imports?open=new', permission: 'core.imports.create' },
  { name: 'mergeContacts', path: 'contacts/merge', permission: 'core.contacts.merge' },
  { name: 'createSegment', path: 'segments/new', permission: 'core.segments.create' },
  { name: 'createList', path: 'contacts/lists?open=new', permission: 'crm.lists.create' },
  { name: 'createAttribute', path: 'attributes?open=new', permission: 'core.attributes.create' },
  { name: 'createObject', path: 'objects?open=new', permission: 'crm.objects.create' },
  { name: 'createTemplate', path: 'messages/templates/new', permission: 'messaging.templates.create' },
  { name: 'createCampaign', path: 'messages/campaigns?open=new', permission: 'messaging.campaigns.create' },
  { name: 'createRouting', path: 'messages/routing?open=new', permission: 'messaging.routing.update' },
  { name: 'setUpEmail', path: 'messages/channels?open=email', permission: 'messaging.channels.update' },
  { name: 'setUpSms', path: 'messages/channels?open=sms', permission: 'messaging.channels.update' },
  { name: 'setUpWhatsapp', path: 'messages/channels?open=whatsapp', permission: 'messaging.channels.update' },
  { name: 'setUpPush', path: 'messages/channels?open=push', permission: 'messaging.channels.update' },
  { name: 'addDomain', path: 'messages/sender-domains?open=new', permission: 'messaging.domains.create' },
  { name: 'createRule', path: 'loyalty/rules?open=new', permission: 'loyalty.rules.create' },
  { name: 'adjustPoints', path: 'loyalty?open=adjust', permission: 'loyalty.transactions.create' },
  { name: 'requestAccess', path: 'privacy?open=new&ask=access', permission: 'core.subject_requests.create' },
  {
    name: 'requestErasure',
    path: 'privacy?open=new&ask=erasure',
    permission: 'core.subject_requests.create',
  },
  { name: 'createKey', path: 'developers/keys?open=new', permission: 'identity.api_keys.create' },
  { name: 'addWebhook', path: 'developers/webhooks?open=new', permission: 'messaging.webhooks.create' },
  { name: 'invite', path: 'organization/invitations?create=true', permission: 'identity.invitations.create' },
  { name: 'createRole', path: 'organization/roles/new', permission: 'identity.roles.create' },
  {
    name: 'createChild',
    path: 'organization/children?create=true',
    permission: 'identity.organizations.create',
  },
  {
    name: 'createClient',
    path: 'organization/clients?create=true',
    permission: 'identity.oauth_clients.create',
  },
  { name: 'connectSso', path: 'organization/sso?create=true', permission: 'identity.sso.create' },
];

type May = (permission: string) => boolean;

const isOpen =
  (may: May) =>
  ({ permissions }: Place): boolean =>
    permissions.length === 0 || permissions.some(may);

interface Placed {
  place: Place;
  above: Place | undefined;
}

/** Lists the pages that somebody sees, each with the section above it: of a section that has parts, those. */
export function placesFor(may: May): Placed[] {
  return SECTIONS.filter(isOpen(may)).flatMap((section): Placed[] =>
    section.parts === undefined
      ? [{ place: section, above: undefined }]
      : section.parts.filter(isOpen(may)).map((place) => ({ place, above: section })),
  );
}

/** Lists what somebody may begin. */
export function actsFor(may: May): Act[] {
  return ACTS.filter(({ permission }) => may(permission));
}

/** Lists the parts of the section that an address within the organization is in. */
export function partsAt(path: string, may: May): Place[] {
  const [first = ''] = path.split('/');
  const section = SECTIONS.find((each) => each.path === first);
  return (section?.parts ?? []).filter(isOpen(may));
}

/** Names the pages above an address within the organization, the topmost first. */
export function placesAbove(path: string, may: May): Place[] {
  const [first = ''] = path.split('/');
  const section = SECTIONS.find((each) => each.path === first);
  if (section === undefined || first === '') return [];
  const parts = (section.parts ?? []).filter(isOpen(may));
  const part = parts.filter((each) => path.startsWith(`${each.path}/`)).at(-1);
  const above = part === undefined || part.path === section.path ? [section] : [section, part];
  return above.filter((each) => each.path !== path && isOpen(may)(each));
}
