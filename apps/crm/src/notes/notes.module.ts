import { Module } from '@nestjs/common';
import { ContactRefsModule } from '../contact-refs/contact-refs.module.js';
import { NotesController } from './notes.controller.js';
import { NotesService } from './notes.service.js';

/** Notes on contacts. */
@Module({
  imports: [ContactRefsModule],
  controllers: [NotesController],
  providers: [NotesService],
})
export class NotesModule {}
