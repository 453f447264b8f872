import { Controller } from '@nestjs/common';
import {
  CONTACT_CHANGED,
  CONTACT_ENDED,
  CONTACTS_MERGED,
  type ContactChanged,
  type ContactEnded,
  type ContactsMerged,
} from '@customer-platform/contact-refs';
import { Clock, Database } from '@customer-platform/database';
import { type ErasureRequested, Erasures } from '@customer-platform/erasure';
import { OnEvent } from '@customer-platform/event-bus';
import type { DomainEvent } from '@customer-platform/events';
import { ContactErasure } from './contact-erasure.js';
import { ContactProjection, type Consented } from './people/contacts/contact-projection.js';
import { Devices, IDENTITY_CHANGES, type IdentityChange } from './people/contacts/devices.js';
import {
  IdentityMail,
  type MailedEvent,
  MAILED_EVENTS,
} from './requests/identity-mail/identity-mail.service.js';
import { OrganizationStates, type StateChange } from './background/organizations/organization-states.js';
import { routedEvent, ROUTED_TYPES, type RoutedType } from './vocabulary/events/routed-event.js';
import { Router } from './requests/routing/router.js';
import { SendsRepository } from './dispatch/sends/sends.repository.js';

/**
 * What happens in other modules, from Kafka only (service.md, behaviour 3). One class takes all of it, so that one
 * contact's history keeps its order: a rule that asks about a contact sees what the contact was told before.
 */
@Controller()
export class EventsConsumer {
  constructor(
    private readonly database: Database,
    private readonly contacts: ContactProjection,
    private readonly devices: Devices,
    private readonly organizations: OrganizationStates,
    private readonly router: Router,
    private readonly erasures: Erasures,
    private readonly erasure: ContactErasure,
    private readonly identityMail: IdentityMail,
    private readonly sends: SendsRepository,
    private readonly clock: Clock,
  ) {}

  @OnEvent(CONTACT_CHANGED)
  contactsChanged(events: DomainEvent<ContactChanged>[]): Promise<void> {
    return this.contacts.changed(events);
  }

  @OnEvent(CONTACT_ENDED)
  contactsEnded(events: DomainEvent<ContactEnded>[]): Promise<void> {
    return this.contacts.ended(events);
  }

  @OnEvent('core.erasure.requested.v1')
  async erase(requests: ErasureRequested[]): Promise<void> {
    for (const request of requests) await this.erasure.stop(request);
    await this.erasures.perform(requests, this.erasure);
  }

  @OnEvent(CONTACTS_MERGED)
  contactsMerged(events: DomainEvent<ContactsMerged>[]): Promise<void> {
    return this.contacts.merged(events);
  }

  @OnEvent<IdentityChange>(IDENTITY_CHANGES)
  identitiesChanged(events: DomainEvent<IdentityChange>[]): Promise<void> {
    return this.devices.follow(events);
  }

  @OnEvent<Consented>(['core.consent.recorded.v1', 'core.consent.expired.v1'])
  consented(events: DomainEvent<Consented>[]): Promise<void> {
    return this.contacts.consented(events);
  }

  @OnEvent<StateChange>(['identity.organization.suspended.v1', 'identity.organization.reactivated.v1'])
  organizationsChanged(events: DomainEvent<StateChange>[]): Promise<void> {
    return this.organizations.apply(events);
  }

  /** The platform's own mail: no rule of an organization sees these. */
  @OnEvent<MailedEvent>(MAILED_EVENTS)
  identityWrites(events: DomainEvent<MailedEvent>[]): Promise<void> {
    return this.identityMail.accept(events);
  }

  /** What has left cannot be called back; its token is dead all the same. */
  @OnEvent<'identity.invitation.revoked.v1'>('identity.invitation.revoked.v1')
  async invitationsRevoked(events: DomainEvent<'identity.invitation.revoked.v1'>[]): Promise<void> {
    await this.database.acrossOrganizations(async (tx) => {
      for (const { organizationid, data } of events) {
        await tx.useOrganization(organizationid);
        await this.sends.cancelOfLink(tx, data.id, 'invalid_token', this.clock.now());
      }
    });
  }

  @OnEvent<RoutedType>(ROUTED_TYPES)
  async happened(events: DomainEvent<RoutedType>[]): Promise<void> {
    const routed = events.flatMap((event) => routedEvent(event) ?? []);
    if (routed.length > 0) await this.database.acrossOrganizations((tx) => this.router.route(tx, routed));
  }
}
