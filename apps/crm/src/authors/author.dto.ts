import { ApiProperty } from '@nestjs/swagger';

/** Who wrote something. */
export class AuthorDto {
  @ApiProperty({ enum: ['api_key', 'user', 'oauth_client'] }) type: string;
  @ApiProperty({ example: '019a6f0e-2b1c-7c3d-9e4f-5a6b7c8d9e0f' }) id: string;
}
