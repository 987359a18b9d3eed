import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('users')
export class User {
  @PrimaryColumn()
  id: number;

  @Column({ unique: true })
  email: string;

  @Column({ type: 'int', nullable: true })
  sponsor: number | null;

  @Column('timestamptz')
  created: Date;

  /** As `isPassword` reads it; only logins select it. Those who never log in have none. */
  @Column({ type: 'text', nullable: true, select: false })
  password: string | null;
}
