import { Module } from '@nestjs/common';
import { ContactRefsConsumer } from './contact-refs.consumer.js';
import { ContactRefsRepository } from './contact-refs.repository.js';
import { ContactRefs } from './contact-refs.service.js';

/** What crm knows of core's contacts. */
@Module({
  controllers: [ContactRefsConsumer],
  providers: [ContactRefs, ContactRefsRepository],
  exports: [ContactRefs],
})
export class ContactRefsModule {}
