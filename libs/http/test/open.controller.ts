import { Controller, Get, Post } from '@nestjs/common';
import { Endpoint, type EndpointOptions } from '../src/index.js';

/** A route that nobody guards. */
@Controller('v1/crm/open')
export class OpenController {
  /** Has no endpoint decorator. */
  @Get()
  forgotten(): string {
    return 'open to all';
  }
}

/** What the types forbid, as a caller of plain JavaScript could write it. */
const unsafe = (options: object): MethodDecorator => Endpoint(options as EndpointOptions);
const route = { method: 'GET', summary: 'x' } as const;

/** Routes with one fault each. */
@Controller()
export class FaultyController {
  /** Neither. */
  @unsafe({ ...route, path: 'v1/crm/neither' })
  neither(): void {
    // never called
  }

  /** Both. */
  @unsafe({ ...route, path: 'v1/crm/both', permission: 'crm.notes.read', authorization: 'none' })
  both(): void {
    // never called
  }

  /** A permission that does not exist. */
  @unsafe({ ...route, path: 'v1/crm/misspelt', permission: 'crm.nots.read' })
  misspelt(): void {
    // never called
  }

  /** Of another module. */
  @Endpoint({ ...route, path: 'v1/core/foreign', permission: 'core.contacts.read' })
  foreign(): void {
    // never called
  }

  /** Open beside the services. */
  @Endpoint({ ...route, path: 'internal/open', authorization: 'none' })
  internal(): void {
    // never called
  }

  /** A service route in the open. */
  @Endpoint({ ...route, path: 'v1/crm/service', authorization: 'service' })
  service(): void {
    // never called
  }

  /** Once. */
  @Endpoint({ ...route, path: 'v1/crm/twice/:id', authorization: 'none' })
  once(): void {
    // never called
  }

  /** Again. */
  @Endpoint({ ...route, path: 'v1/crm/twice/:other', authorization: 'none' })
  again(): void {
    // never called
  }
}

/** A route that is guarded, in an app without an authenticator. */
@Controller('v1/crm/guarded')
export class GuardedController {
  /** Needs an authenticator. */
  @Endpoint({ ...route, permission: 'crm.notes.read' })
  read(): void {
    // never called
  }
}

/** A member's route, in an app without a member authenticator. */
@Controller('v1/crm/member')
export class MemberController {
  /** Needs a member authenticator. */
  @Endpoint({ ...route, authorization: 'member_token' })
  read(): void {
    // never called
  }
}

/** A route of tenant tokens, in an app without a tenant authenticator. */
@Controller('v1/crm/tenant')
export class TenantController {
  /** Needs a tenant authenticator. */
  @Endpoint({ ...route, authorization: 'tenant_token' })
  read(): void {
    // never called
  }
}

/** Not a route at all beside one that is. */
@Controller('v1/crm/mixed')
export class MixedController {
  /** Guarded by nothing. */
  @Post()
  unguarded(): void {
    // never called
  }

  /** Open by declaration. */
  @Endpoint({ ...route, authorization: 'none' })
  declared(): object {
    return { open: true };
  }
}
