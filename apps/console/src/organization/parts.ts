/** The parts of the page, each with an address of its own and the permission that shows it. */
export const PARTS = [
  { name: 'settings', to: '/o/$organization/organization', permission: 'identity.organizations.read' },
  {
    name: 'retention',
    to: '/o/$organization/organization/retention',
    permission: 'identity.organizations.read',
  },
  { name: 'people', to: '/o/$organization/organization/people', permission: 'identity.users.read' },
  {
    name: 'invitations',
    to: '/o/$organization/organization/invitations',
    permission: 'identity.invitations.read',
  },
  { name: 'roles', to: '/o/$organization/organization/roles', permission: 'identity.roles.read' },
  {
    name: 'children',
    to: '/o/$organization/organization/children',
    permission: 'identity.organizations.read',
  },
  { name: 'clients', to: '/o/$organization/organization/clients', permission: 'identity.oauth_clients.read' },
  { name: 'sso', to: '/o/$organization/organization/sso', permission: 'identity.sso.read' },
  // Whoever may not change users sees their own alone, and those are in their account.
  { name: 'sessions', to: '/o/$organization/organization/sessions', permission: 'identity.users.update' },
] as const;
