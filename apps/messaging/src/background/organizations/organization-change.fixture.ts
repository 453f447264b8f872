import type { DomainEvent } from '@customer-platform/events';
import { domainEvent } from '@customer-platform/testing';
import type { StateChange } from './organization-states.js';

/** What identity tells of an organization that it suspends or makes active again; now, unless a time is given. */
export function organizationChange(
  id: string,
  verb: 'suspended' | 'reactivated',
  time?: string,
): DomainEvent<StateChange> {
  const event = domainEvent<StateChange>(`identity.organization.${verb}.v1`, id, {
    organization_id: id,
    id,
    slug: 'shop',
    changed: ['status'],
  });
  return time === undefined ? event : { ...event, time };
}
