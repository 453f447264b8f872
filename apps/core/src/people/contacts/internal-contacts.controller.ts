import { Controller } from '@nestjs/common';
import { InternalEndpoint } from '@customer-platform/authorization';
import { Body } from '@customer-platform/http';
import { ContactAddressDto, ContactLookupDto } from './internal-contacts.dto.js';
import {
  InternalContactsService,
  type ContactAddress,
  type ContactDevice,
  type LookedUpContact,
} from './internal-contacts.service.js';

@Controller('internal/contacts')
export class InternalContactsController {
  constructor(private readonly contacts: InternalContactsService) {}

  @InternalEndpoint({ method: 'POST', path: 'lookup', callers: ['crm', 'loyalty', 'messaging'] })
  lookup(@Body() body: ContactLookupDto): Promise<{ data: LookedUpContact[] }> {
    return this.contacts.lookup(body);
  }

  @InternalEndpoint({ method: 'POST', path: 'devices', callers: ['messaging'] })
  devices(@Body() body: ContactLookupDto): Promise<{ data: ContactDevice[] }> {
    return this.contacts.devices(body);
  }

  @InternalEndpoint({ method: 'POST', path: 'address', callers: ['crm', 'loyalty', 'messaging'] })
  address(@Body() body: ContactAddressDto): Promise<ContactAddress> {
    return this.contacts.address(body);
  }
}
