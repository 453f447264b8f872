import { Module } from '@nestjs/common';
import { retentionOf, SigningKeysModule } from '@customer-platform/database';
import { AccessTokenIssuing } from './access-token.issuing.js';
import { OwnSession } from './own-session.js';
import { SessionAuthentication } from './session-authentication.js';
import { SessionBeginnings } from './session-beginnings.js';
import { SessionEndings } from './session-endings.js';
import { ENDED_SESSIONS, SessionSweep } from './session-sweep.js';
import { SessionsController } from './sessions.controller.js';
import { SessionsService } from './sessions.service.js';

/** Users' sessions, and the tokens that are issued in them. */
@Module({
  imports: [SigningKeysModule.forRoot({ module: 'identity' })],
  controllers: [SessionsController],
  providers: [
    AccessTokenIssuing,
    OwnSession,
    SessionAuthentication,
    SessionBeginnings,
    SessionEndings,
    SessionSweep,
    SessionsService,
    retentionOf(ENDED_SESSIONS),
  ],
  exports: [
    AccessTokenIssuing,
    OwnSession,
    SessionAuthentication,
    SessionBeginnings,
    SessionEndings,
    SessionSweep,
  ],
})
export class SessionsModule {}
