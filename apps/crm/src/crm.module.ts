import { Module } from '@nestjs/common';
import { AuditModule } from '@customer-platform/audit';
import { AuthorizationModule } from '@customer-platform/authorization';
import { DatabaseModule, ReferencesModule } from '@customer-platform/database';
import { EventBusModule } from '@customer-platform/event-bus';
import { ContactRefsModule } from './contact-refs/contact-refs.module.js';
import { CRM_MIGRATIONS } from './migrations/index.js';
import { Note } from './notes/note.entity.js';
import { NotesModule } from './notes/notes.module.js';
import { NOTES_ON_CONTACTS } from './notes/notes.service.js';
import { TimelineModule } from './timeline/timeline.module.js';

/** The CRM: what people note about contacts, and the timeline of what happened to them. */
@Module({
  imports: [
    DatabaseModule.forRoot({ module: 'crm', entities: [Note], migrations: CRM_MIGRATIONS }),
    EventBusModule.forRoot({ module: 'crm' }),
    AuditModule.forRoot({ module: 'crm' }),
    AuthorizationModule.forRoot({ module: 'crm', calls: ['core'] }),
    ReferencesModule.forRoot({ module: 'crm', references: [NOTES_ON_CONTACTS] }),
    ContactRefsModule,
    NotesModule,
    TimelineModule,
  ],
})
export class CrmModule {}
