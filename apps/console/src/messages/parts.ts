/** The parts of Messages, each with the permission that shows it. */
export const MESSAGE_PARTS = [
  { name: 'sends', to: '/o/$organization/messages', permission: 'messaging.sends.read' },
  { name: 'templates', to: '/o/$organization/messages/templates', permission: 'messaging.templates.read' },
  { name: 'campaigns', to: '/o/$organization/messages/campaigns', permission: 'messaging.campaigns.read' },
  { name: 'routing', to: '/o/$organization/messages/routing', permission: 'messaging.routing.read' },
  { name: 'channels', to: '/o/$organization/messages/channels', permission: 'messaging.channels.read' },
  {
    name: 'suppressions',
    to: '/o/$organization/messages/suppressions',
    permission: 'messaging.suppressions.read',
  },
  {
    name: 'deliverability',
    to: '/o/$organization/messages/deliverability',
    permission: 'messaging.deliverability.read',
  },
  {
    name: 'senderDomains',
    to: '/o/$organization/messages/sender-domains',
    permission: 'messaging.domains.read',
  },
] as const;
