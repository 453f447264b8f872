import {
  Activity,
  Boxes,
  Building2,
  Code,
  Filter,
  Gift,
  House,
  Mail,
  type LucideIcon,
  ScrollText,
  ShieldUser,
  Tags,
  Users,
} from 'lucide-react';
import type { Messages } from 'use-intl';
import { MESSAGE_PARTS } from '../messages/parts.ts';
import { PARTS } from '../organization/parts.ts';

/** A page of the menu. Whoever holds none of `permissions` does not see it. */
interface MenuPage {
  to:
    | '/o/$organization'
    | '/o/$organization/attributes'
    | '/o/$organization/audit'
    | '/o/$organization/contacts'
    | '/o/$organization/developers'
    | '/o/$organization/events'
    | '/o/$organization/objects'
    | '/o/$organization/organization'
    | '/o/$organization/messages'
    | '/o/$organization/loyalty'
    | '/o/$organization/privacy'
    | '/o/$organization/segments';
  name: keyof Messages['shell']['menu'];
  icon: LucideIcon;
  permissions: readonly string[];
  /** Number of pages below it. */
  parts?: number;
}

/** In the order of the menu. */
const MENU: readonly MenuPage[] = [
  { to: '/o/$organization', name: 'home', icon: House, permissions: [] },
  {
    to: '/o/$organization/events',
    name: 'events',
    icon: Activity,
    permissions: ['core.events.read'],
    parts: 2,
  },
  {
    to: '/o/$organization/contacts',
    name: 'contacts',
    icon: Users,
    permissions: ['core.contacts.read'],
    parts: 4,
  },
  { to: '/o/$organization/segments', name: 'segments', icon: Filter, permissions: ['core.segments.read'] },
  {
    to: '/o/$organization/attributes',
    name: 'attributes',
    icon: Tags,
    permissions: ['core.attributes.read'],
  },
  { to: '/o/$organization/objects', name: 'objects', icon: Boxes, permissions: ['crm.objects.read'] },
  {
    to: '/o/$organization/messages',
    name: 'messages',
    icon: Mail,
    permissions: MESSAGE_PARTS.map(({ permission }) => permission),
    parts: MESSAGE_PARTS.length,
  },
  {
    to: '/o/$organization/loyalty',
    name: 'loyalty',
    icon: Gift,
    permissions: ['loyalty.transactions.read', 'loyalty.rules.read'],
    parts: 2,
  },
  {
    to: '/o/$organization/privacy',
    name: 'privacy',
    icon: ShieldUser,
    permissions: ['core.subject_requests.read'],
  },
  {
    to: '/o/$organization/developers',
    name: 'developers',
    icon: Code,
    permissions: [
      'identity.api_keys.read',
      'messaging.webhooks.read',
      'core.jobs.read',
      'core.taxonomies.read',
    ],
    parts: 5,
  },
  {
    to: '/o/$organization/organization',
    name: 'organization',
    icon: Building2,
    permissions: PARTS.map(({ permission }) => permission),
    parts: PARTS.length,
  },
  { to: '/o/$organization/audit', name: 'audit', icon: ScrollText, permissions: ['core.audit.read'] },
];

/** What of the menu somebody sees. */
export function menuFor(may: (permission: string) => boolean): MenuPage[] {
  return MENU.filter(({ permissions }) => permissions.length === 0 || permissions.some(may));
}
