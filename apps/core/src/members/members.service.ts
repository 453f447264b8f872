import { Injectable } from '@nestjs/common';
import { Database } from '@customer-platform/database';
import { turns, type RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { DeclaredAttributesReader } from '../following/declared-attributes.reader.js';
import { type ContactDto, type SeenContact, toContactDto } from '../people/contacts/contact.dto.js';
import { ContactsService } from '../people/contacts/contacts.service.js';

/** Contacts, each merged into the next since it was looked at. */
const MERGES = 10;

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
    const found = await this.ofToken(context);
    const declared = await this.database.inOrganization(context, (tx) => this.declared.now(tx));
    const visible = Object.entries(found.attributes).filter(([key]) => declared.get(key)?.memberVisible);
    return { ...toContactDto(found), attributes: Object.fromEntries(visible) };
  }

  private async ofToken(context: RequestContext): Promise<SeenContact> {
    let { id } = context.principal;
    for await (const _ of turns({ most: MERGES })) {
      const found = await this.contacts.get(context, id);
      if (!('survivorId' in found)) return found;
      // Merged in the moment since the token was looked at.
      id = found.survivorId;
    }
    throw new Problem('dependency_unavailable', {
      detail: 'The contact keeps being merged; try again shortly.',
    });
  }
}
