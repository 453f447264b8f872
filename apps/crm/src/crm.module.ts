import { Module } from '@nestjs/common';
import { AuditModule } from '@customer-platform/audit';
import { AuthorizationModule } from '@customer-platform/authorization';
import { DatabaseModule, ReferencesModule, SubjectRowsModule } from '@customer-platform/database';
import { EventBusModule } from '@customer-platform/event-bus';
import { ActivitiesModule } from './activities/activities.module.js';
import { ACTIVITIES_ON_CONTACTS } from './activities/activities.service.js';
import { Activity } from './activities/activity.entity.js';
import { ActivityType } from './activity-types/activity-type.entity.js';
import { ActivityTypesModule } from './activity-types/activity-types.module.js';
import { ContactRefsModule } from './contact-refs/contact-refs.module.js';
import { LIST_MEMBERS_ON_CONTACTS } from './lists/list-members.service.js';
import { List } from './lists/list.entity.js';
import { ListsModule } from './lists/lists.module.js';
import { CRM_MIGRATIONS } from './migrations/index.js';
import { Note } from './notes/note.entity.js';
import { NotesModule } from './notes/notes.module.js';
import { NOTES_ON_CONTACTS } from './notes/notes.service.js';
import { ObjectDefinition } from './objects/definitions/object-definition.entity.js';
import { ObjectsModule } from './objects/objects.module.js';
import { ObjectRecord } from './objects/records/object-record.entity.js';
import { OBJECTS_ON_CONTACTS } from './objects/records/records-of-contacts.js';
import { ORGANIZATION_IN_CRM } from './organization-references.js';
import { SUBJECT_TABLES, UNSETTLED_RECORDS } from './subject-tables.js';
import { TimelineModule } from './timeline/timeline.module.js';

const ON_CONTACTS = [
  NOTES_ON_CONTACTS,
  ACTIVITIES_ON_CONTACTS,
  LIST_MEMBERS_ON_CONTACTS,
  OBJECTS_ON_CONTACTS,
];

/** The CRM: what people note about contacts and do with them, and the timeline of what happened to them. */
@Module({
  imports: [
    DatabaseModule.forRoot({
      module: 'crm',
      entities: [Activity, ActivityType, List, Note, ObjectDefinition, ObjectRecord],
      migrations: CRM_MIGRATIONS,
    }),
    EventBusModule.forRoot({ module: 'crm' }),
    AuditModule.forRoot({ module: 'crm' }),
    AuthorizationModule.forRoot({ module: 'crm', calls: ['core', 'messaging'] }),
    ReferencesModule.forRoot({
      module: 'crm',
      references: [...ON_CONTACTS, ...ORGANIZATION_IN_CRM],
      ask: ['messaging'],
    }),
    SubjectRowsModule.forRoot({ tables: SUBJECT_TABLES, unsettled: UNSETTLED_RECORDS }),
    ContactRefsModule,
    NotesModule,
    ActivityTypesModule,
    ActivitiesModule,
    ListsModule,
    ObjectsModule,
    TimelineModule,
  ],
})
export class CrmModule {}
