import { Controller } from '@nestjs/common';
import { Body, Context, Endpoint, type RequestContext } from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { EnrollDto, EnrolledFactorDto, MfaDto, RecoveryCodesDto, VerifiedDto, VerifyDto } from './mfa.dto.js';
import { MfaService } from './mfa.service.js';

/** The calling user's second factors, which no tenant's client changes. */
@Controller('v1/identity/mfa')
export class MfaController {
  constructor(private readonly mfa: MfaService) {}

  @Endpoint({
    method: 'GET',
    permission: 'identity.mfa.read',
    accepts: 'user',
    summary: 'Read one’s factors',
    success: 200,
    response: MfaDto,
    problems: [],
  })
  read(@Context() context: RequestContext): Promise<MfaDto> {
    return this.mfa.read(context);
  }

  @Endpoint({
    method: 'POST',
    path: 'enroll',
    permission: 'identity.mfa.manage',
    accepts: 'user',
    summary: 'Begin a factor, to be confirmed by a first code within ten minutes',
    description:
      'The first needs a sign-in within the last ten minutes, a further one a second factor given within them.',
    success: 200,
    response: EnrolledFactorDto,
    secretFields: ['secret', 'otpauth_uri'],
    problems: ['user_not_managed', 'fresh_sign_in_required', 'mfa_required', 'limit_reached'],
  })
  enroll(@Context() context: RequestContext, @Body() { name }: EnrollDto): Promise<EnrolledFactorDto> {
    return this.mfa.enroll(context, name);
  }

  @Endpoint({
    method: 'POST',
    path: 'verify',
    permission: 'identity.mfa.manage',
    accepts: 'user',
    summary: 'Verify a code, or a recovery code',
    description:
      'Confirms a factor that waits for it, and ends the other sessions then; this one has a second factor.',
    success: 200,
    response: VerifiedDto,
    secretFields: ['recovery_codes'],
    problems: ['user_not_managed', 'mfa_required', 'mfa_code_invalid', 'rate_limited'],
  })
  verify(@Context() context: RequestContext, @Body() body: VerifyDto): Promise<VerifiedDto> {
    const { factor_id: factorId, code, recovery_code: recoveryCode } = body;
    if (recoveryCode !== undefined && factorId === undefined && code === undefined)
      return this.mfa.verifyRecoveryCode(context, recoveryCode);
    if (recoveryCode === undefined && factorId !== undefined && code !== undefined)
      return this.mfa.verifyCode(context, factorId, code);
    const detail = 'Give `factor_id` and `code`, or `recovery_code` alone.';
    throw Problem.validation([{ pointer: '/code', code: 'required', detail }]);
  }

  @Endpoint({
    method: 'POST',
    path: 'recovery-codes',
    permission: 'identity.mfa.manage',
    accepts: 'user',
    summary: 'Replace one’s recovery codes',
    description: 'Needs a second factor given within the last ten minutes.',
    success: 200,
    response: RecoveryCodesDto,
    secretFields: ['recovery_codes'],
    body: 'none',
    problems: ['user_not_managed', 'mfa_required'],
  })
  async replaceRecoveryCodes(@Context() context: RequestContext): Promise<RecoveryCodesDto> {
    return { recovery_codes: await this.mfa.replaceRecoveryCodes(context) };
  }
}
