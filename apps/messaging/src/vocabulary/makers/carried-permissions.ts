import type { Permission } from '@customer-platform/permissions';

import { ROUTABLE_EVENTS, type RoutableEvent } from '../events/routed-event.js';
import { permissionsToRead } from './reading-permissions.js';
import { eventName } from './subscriptions.js';

/** What a message may say of its contact, and a condition ask. */
const OF_CONTACTS: Permission = 'core.contacts.read';

/** What reads all that a rule may carry: the event's data and the contact's fields, in its condition and its text. */
export function permissionsOfRule(eventType: RoutableEvent): readonly Permission[] {
  return [...new Set([...permissionsToRead(eventName(eventType)), OF_CONTACTS])];
}

/** What reads all that a channel's account is given: every message, whatever rule or caller had it made. */
export const PERMISSIONS_OF_CHANNELS: readonly Permission[] = [
  ...new Set([...ROUTABLE_EVENTS.flatMap(permissionsOfRule), 'messaging.sends.read' as const]),
];

/** What a campaign can be aimed at. */
export type AudienceType = 'segment' | 'list';

/** What shows who is in an audience. */
export const PERMISSION_OF_AUDIENCE: Readonly<Record<AudienceType, Permission>> = {
  segment: 'core.segments.read',
  list: 'crm.lists.read',
};

/** What reads all that a campaign carries: who is in its audience, and their fields. */
export function permissionsOfCampaign(audience: AudienceType): readonly Permission[] {
  return [PERMISSION_OF_AUDIENCE[audience], OF_CONTACTS];
}
