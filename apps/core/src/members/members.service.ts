import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import { DeclaredAttributesReader } from '../attributes/declared-attributes.reader.js';
import { type ContactDto, toContactDto } from '../contacts/contact.dto.js';
import { ContactsService } from '../contacts/contacts.service.js';

/** What a member may see of themselves. */
@Injectable()
export class MembersService {
  constructor(
    private readonly contacts: ContactsService,
    private readonly database: Database,
    private readonly declared: DeclaredAttributesReader,
  ) {}

  /**
   * The contact of the token, its national id masked. Of its attributes a member sees those that a definition makes
   * visible; without a definition none is.
   */
  async me(context: RequestContext): Promise<ContactDto> {
    let found = await this.contacts.get(context, context.principal.id);
    // Merged in the moment since the token was looked at.
    while ('survivorId' in found) found = await this.contacts.get(context, found.survivorId);
    const declared = await this.database.inOrganization(context, (tx) => this.declared.now(tx));
    const visible = Object.entries(found.attributes).filter(([key]) => declared.get(key)?.memberVisible);
    return { ...toContactDto(found), attributes: Object.fromEntries(visible) };
  }
}
