import type { Platform } from './platform.ts';
import { adminOf } from './public-api.ts';

/** Pages that need no row. */
const PAGES = [
  '',
  'events',
  'events/earlier',
  'contacts',
  'contacts/merge-suggestions',
  'contacts/merge',
  'contacts/imports',
  'contacts/imports?open=new',
  'segments',
  'segments/new',
  'attributes',
  'attributes?open=new',
  'objects',
  'objects?open=new',
  'messages',
  'messages/templates',
  'messages/templates/new',
  'messages/suppressions',
  'messages/routing',
  'messages/routing?open=new',
  'messages/channels',
  'messages/campaigns',
  'messages/campaigns?open=new',
  'messages/deliverability',
  'messages/deliverability?group_by=recipient_domain',
  'messages/sender-domains',
  'messages/sender-domains?open=new',
  'loyalty',
  'loyalty/rules',
  'loyalty/rules?open=new',
  'developers/keys',
  'developers/webhooks',
  'developers/dead-letters',
  'developers/taxonomies',
  'developers/taxonomies?open=ecommerce',
  'developers/reference',
  'organization',
  'organization/retention',
  'organization/children',
  'organization/people',
  'organization/invitations',
  'organization/roles',
  'organization/clients',
  'organization/sso',
  'organization/sessions',
  'privacy',
  'privacy?open=new',
  'audit',
  'account',
];

/** Pages of one row: where the rows are read, and the parts that each has, or the list that it stands beside. */
const ROWS = [
  {
    from: '/v1/core/contacts',
    path: 'contacts/',
    parts: ['', '/profile', '/consents', '/preferences', '/notes', '/activities', '/objects', '/points'],
  },
  { from: '/v1/core/segments', path: 'segments/', parts: ['', '/edit'] },
  { from: '/v1/messaging/templates', path: 'messages/templates/', parts: [''] },
  { from: '/v1/crm/object-definitions', path: 'objects/', parts: ['', '?open=new'] },
  { from: '/v1/messaging/campaigns', path: 'messages/campaigns?open=', parts: [''] },
  { from: '/v1/messaging/sender-domains', path: 'messages/sender-domains?open=', parts: [''] },
  { from: '/v1/identity/roles', path: 'organization/roles/', parts: [''] },
  { from: '/v1/core/attribute-definitions', path: 'attributes?open=', parts: [''] },
  { from: '/v1/core/imports', path: 'contacts/imports?open=', parts: [''] },
  { from: '/v1/core/subject-requests', path: 'privacy?open=', parts: [''] },
] as const;

/** Every page of the Console, with the first row of each kind that the demo organization has. */
export async function pagesOf(platform: Platform): Promise<string[]> {
  const admin = await adminOf(platform);
  const pages = [...PAGES];
  for (const { from, path, parts } of ROWS) {
    const { data: rows } = await admin.GET(from, { params: { query: { limit: 1 } } });
    const [row] = rows.data;
    if (row !== undefined) pages.push(...parts.map((part) => `${path}${row.id}${part}`));
  }
  return pages;
}
