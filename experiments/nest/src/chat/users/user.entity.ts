import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('users')
export class User {
  @PrimaryColumn()
  id: number;

  @Column({ unique: true })
  email: string;

  /** As `isPassword` reads it; only logins select it. */
  @Column({ select: false })
  password: string;
}
