//! Lists of users as the database gives them: a page and, unless it is behind a user, the number of all, over one
//! connection, as `findAndCount` of an object mapper asks.

use std::sync::Arc;

use deadpool_postgres::Object;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error as PgError, Row};

use super::pool::{Pool, WORK, given_up};
use super::{failure, unsigned};
use crate::store::StoreError;
use crate::store::user_lists::{Begin, ListRequest, Listed, ListedUser, Listing, UserLists, UserPage};

pub(super) struct Lists(pub(super) Arc<Pool>);

impl UserLists for Lists {
    fn list(&self, wanted: ListRequest) -> Listing<'_> {
        let pool = self.0.clone();
        // On the connections' own runtime, and to its end though nobody waits for it any more: a connection that is
        // given back in the middle of a query would have the next one wait for that.
        let answer = self.0.handle().spawn(async move { list(&pool, wanted).await });
        Box::pin(async move {
            answer.await.unwrap_or_else(|_| Err(failure::unreachable("the service stops".to_owned())))
        })
    }
}

async fn list(pool: &Pool, wanted: ListRequest) -> Result<UserPage, StoreError> {
    let until = pool.deadline();
    loop {
        let connection = pool.connection(until).await?;
        match tokio::time::timeout(WORK, ask(&connection, wanted)).await {
            Ok(Ok(page)) => return Ok(page),
            Ok(Err(error)) => Pool::judge(error, true, until)?,
            Err(_) => return Err(given_up(connection, WORK)),
        }
    }
}

async fn ask(connection: &Object, wanted: ListRequest) -> Result<UserPage, PgError> {
    let queries = Queries::of(wanted);
    let rows = connection.prepare_cached(&queries.page).await?;
    let limit = limited(wanted.limit);
    let begin = match wanted.begin {
        Begin::Offset(_) if wanted.listed == Listed::Random => 0,
        Begin::Offset(behind) | Begin::Behind(behind) => limited(behind),
    };
    let mut values: Vec<&(dyn ToSql + Sync)> = vec![&limit, &begin];
    values.extend(queries.user.iter().map(|user| user as &(dyn ToSql + Sync)));
    let rows = connection.query(&rows, &values);
    let Some(count) = &queries.count else {
        return Ok(UserPage { users: rows.await?.iter().map(listed).collect(), total: None });
    };
    let count = connection.prepare_cached(count).await?;
    let user: Vec<&(dyn ToSql + Sync)> =
        queries.user.iter().map(|user| user as &(dyn ToSql + Sync)).collect();
    // Both are on their way before either is answered.
    let (rows, count) = tokio::try_join!(rows, connection.query_one(&count, &user))?;
    Ok(UserPage { users: rows.iter().map(listed).collect(), total: Some(unsigned(count.get(0))) })
}

fn listed(row: &Row) -> ListedUser {
    ListedUser {
        id: unsigned(row.get(0)),
        email: row.get(1),
        username: row.get(2),
        posts: unsigned(row.get(3)),
        sponsors: unsigned(row.get(4)),
    }
}

fn limited(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// The statements for a request. A page's values are its limit, where it begins, and the user whose list it is; those
/// of the count, that user.
struct Queries {
    page: String,
    count: Option<String>,
    user: Option<i64>,
}

impl Queries {
    fn of(ListRequest { listed, begin, .. }: ListRequest) -> Queries {
        let (condition, user) = match listed {
            Listed::All | Listed::Random => ("true", None),
            Listed::AllSponsored => ("EXISTS (SELECT FROM sponsors s WHERE s.sponsored_id = users.id)", None),
            Listed::SponsorsOf(user) => {
                ("id IN (SELECT s.user_id FROM sponsors s WHERE s.sponsored_id = $user)", Some(limited(user)))
            }
            Listed::SponsoredBy(user) => {
                ("id IN (SELECT s.sponsored_id FROM sponsors s WHERE s.user_id = $user)", Some(limited(user)))
            }
        };
        let (order, behind) = match listed {
            Listed::All | Listed::AllSponsored => ("id DESC", "id < $2"),
            Listed::SponsorsOf(_) | Listed::SponsoredBy(_) => ("id", "id > $2"),
            Listed::Random => ("random()", "id > $2"),
        };
        let (bound, offset) = match begin {
            Begin::Offset(_) => ("true", "OFFSET $2"),
            Begin::Behind(_) => (behind, ""),
        };
        let page = format!(
            "SELECT u.id, u.email, u.username,
                (SELECT count(*) FROM messages m WHERE m.sender = u.id AND m.sender <> 0),
                (SELECT count(*) FROM sponsors s WHERE s.sponsored_id = u.id)
            FROM (
                SELECT id, email, username FROM users WHERE {condition} AND {bound}
                ORDER BY {order} LIMIT $1 {offset}
            ) u ORDER BY {order}"
        );
        let count = matches!(begin, Begin::Offset(_))
            .then(|| format!("SELECT count(*) FROM users WHERE {condition}").replace("$user", "$1"));
        Queries { page: page.replace("$user", "$3"), count, user }
    }
}
