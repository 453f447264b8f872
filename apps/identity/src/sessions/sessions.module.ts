import { Module } from '@nestjs/common';
import { SessionEndings } from './session-endings.js';

/** Users' sessions. */
@Module({ providers: [SessionEndings], exports: [SessionEndings] })
export class SessionsModule {}
