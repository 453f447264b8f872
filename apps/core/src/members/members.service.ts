import { Injectable } from '@nestjs/common';
import type { RequestContext } from '@customer-platform/http';
import type { ContactDto } from '../contacts/contact.dto.js';
import { ContactsService } from '../contacts/contacts.service.js';
import { toContactDto } from '../contacts/to-contact-dto.js';

/** What a member may see of themselves. */
@Injectable()
export class MembersService {
  constructor(private readonly contacts: ContactsService) {}

  /**
   * The contact of the token, its national id masked. Of its attributes a member sees those that a definition makes
   * visible; without a definition none is.
   */
  async me(context: RequestContext): Promise<ContactDto> {
    let found = await this.contacts.get(context, context.principal.id);
    // Merged in the moment since the token was looked at.
    while ('survivorId' in found) found = await this.contacts.get(context, found.survivorId);
    return { ...toContactDto(found), attributes: {} };
  }
}
