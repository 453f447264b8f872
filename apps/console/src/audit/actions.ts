const RESOURCE = ['create', 'update', 'delete', 'restore', 'purge'] as const;

/** The acts that the platform writes down, by the thing that each was done to. */
export const ACTIONS = {
  core: {
    attributes: RESOURCE,
    consents: ['write'],
    contacts: [...RESOURCE, 'merge', 'lookup', 'read_national_id'],
    imports: ['create', 'complete'],
    jobs: ['replay'],
    segments: RESOURCE,
    subject_requests: ['create', 'download'],
    taxonomies: ['install'],
  },
  crm: {
    activities: RESOURCE,
    activity_types: RESOURCE,
    lists: RESOURCE,
    notes: RESOURCE,
    object_definitions: RESOURCE,
    objects: RESOURCE,
  },
  identity: {
    api_keys: ['create', 'rotate', 'revoke'],
    impersonation: ['start', 'stop'],
    invitations: ['create', 'resend', 'revoke', 'accept'],
    memberships: ['create', 'delete'],
    mfa: ['confirm', 'use_recovery_code', 'replace_recovery_codes'],
    oauth_clients: RESOURCE,
    organizations: RESOURCE,
    passwords: ['change', 'request_reset'],
    role_assignments: ['create', 'delete'],
    roles: RESOURCE,
    sessions: ['revoke'],
    sso: [...RESOURCE, 'verify'],
    users: [...RESOURCE, 'activate', 'link_sso'],
  },
  loyalty: {
    rules: RESOURCE,
    transactions: ['create'],
  },
  messaging: {
    campaigns: [...RESOURCE, 'run'],
    channels: ['update'],
    domains: [...RESOURCE, 'verify'],
    preferences: ['update'],
    routing: RESOURCE,
    suppressions: ['create', 'delete'],
    templates: RESOURCE,
    webhooks: RESOURCE,
  },
} as const;

type Modules = typeof ACTIONS;

/** A thing that acts are done to, as the last but one word of an action. */
type Thing = { [Module in keyof Modules]: keyof Modules[Module] }[keyof Modules];

interface ActionGroup {
  thing: Thing;
  actions: readonly string[];
}

/** All of them, `core.contacts.merge`, by thing. */
export const ACTION_GROUPS: readonly ActionGroup[] = Object.entries(ACTIONS).flatMap(([module, things]) =>
  Object.entries(things).map(([thing, verbs]) => ({
    thing: thing as Thing,
    actions: (verbs as readonly string[]).map((verb) => `${module}.${thing}.${verb}`),
  })),
);
