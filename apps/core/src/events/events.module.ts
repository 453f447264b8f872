import { Module } from '@nestjs/common';
import { ContactsModule } from '../contacts/contacts.module.js';
import { EventsController } from './events.controller.js';
import { EventsService } from './events.service.js';

/** Reads of the stored events. */
@Module({ imports: [ContactsModule], controllers: [EventsController], providers: [EventsService] })
export class EventsModule {}
